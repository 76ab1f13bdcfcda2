// All that runs in the frame around a learner's code: it starts the worker and passes on the page's end of a wire.
// The frame has an origin of its own that nothing else has, and a policy that connects to nowhere; the worker inherits
// both. It hears nothing from the worker: what comes without the wire is foreign, and ends it.
onmessage = ({ data, source, ports }) => {
  if (source !== parent) return;
  onmessage = null;
  const worker = new Worker(URL.createObjectURL(new Blob(data, { type: "text/javascript" })));
  const tell = (what) => parent.postMessage(what, "*");
  worker.onmessage = worker.onmessageerror = () => {
    worker.terminate();
    worker.onmessage = null;
    tell("foreign");
  };
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    tell("error");
  }, { once: true });
  worker.postMessage(null, ports);
};
