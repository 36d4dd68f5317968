/** What the executable is called, the leanest first. */
const NAMES = [
  'chrome-headless-shell',
  'chromium-headless-shell',
  'headless_shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'google-chrome-beta',
]

/** Folders of programs, also where a service is started with a short `PATH`. */
const FOLDERS = [
  ...['/usr/local/bin', '/usr/bin', '/bin', '/snap/bin', '/usr/lib/chromium', '/usr/lib/chromium-browser'],
  ...['/opt/google/chrome', '/opt/chromium'],
]

const MAC_APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/**
 * Returns the path of Chromium's executable, or null when there is none.
 *
 * @param setting `TAGWARDEN_CHROMIUM`: a path, or a name in `PATH`; only that counts then. Empty: looked for by its usual
 * names, in `PATH` and where systems put it.
 */
export function findChromium(setting: string): string | null {
  const folders = [process.env.PATH ?? '', ...FOLDERS].filter(Boolean).join(':')
  const candidates = setting === '' ? [...NAMES, ...MAC_APPS] : [setting]
  for (const name of candidates) {
    const path = Bun.which(name, { PATH: folders })
    if (path !== null) return path
  }
  return null
}

/** Returns what is to be done so that `findChromium` finds one, as a sentence without its full stop. */
export function howToGetChromium(setting: string): string {
  return setting === ''
    ? 'there is no Chromium on this server: install it (package "chromium" or "chromium-headless-shell"), or name its executable in TAGWARDEN_CHROMIUM'
    : `TAGWARDEN_CHROMIUM names ${setting}, which is no executable file: name one, or leave it empty`
}
