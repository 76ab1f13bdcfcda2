# The same for Windows, in PowerShell: .\install.ps1. Not tried on Windows yet. The archive has to be made on Windows too.
$ErrorActionPreference = "Stop"
Set-Location $PSScriptRoot
$python = if ($env:PYTHON) { $env:PYTHON } else { "py" }
& $python wheels\fits.py
if ($LASTEXITCODE) { exit 2 }
& $python -m venv --clear .venv
$extras = "@EXTRAS@"
$what = if ($extras) { ".[$extras]" } else { "." }
.venv\Scripts\python.exe -m pip install -qq --disable-pip-version-check --no-index --find-links wheels -c constraints.txt -e $what
if ($LASTEXITCODE) { exit 2 }
Write-Output "Ready. Next: .venv\Scripts\sdpa.exe lab"
