// The last of the joined files: everything on this page that can move begins to.

/* global upgradeQuestions, upgradePanels, LIVE_GIVEN */

const lessonOfPage = location.pathname.split("/").pop().replace(/\.html$/, "");
upgradeQuestions(document);
upgradePanels(document, LIVE_GIVEN, lessonOfPage);
