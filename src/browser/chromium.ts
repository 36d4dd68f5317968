import { childEnv } from '../core/child-env.ts'
import { SECOND_MS } from '../core/clock.ts'

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

/** How long it may take to say its version. */
const VERSION_MS = 5 * SECOND_MS

/** Returns the version that an executable says it has, such as `153.0.8010.0`; null when it says none. */
export async function versionOf(executable: string): Promise<string | null> {
  try {
    const said = Bun.spawn([executable, '--version'], {
      env: childEnv(),
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: VERSION_MS,
      killSignal: 'SIGKILL',
    })
    return versionIn(await new Response(said.stdout).text())
  } catch {
    // It can't be started; that is told when the browser is.
    return null
  }
}

/** The version in what a browser says of itself: `Chromium 153.0.8010.0`, `HeadlessChrome/153.0.8010.0`. */
export const versionIn = (said: string): string | null => /\d+(?:\.\d+){3}/.exec(said)?.[0] ?? null

/** Returns what is to be done so that `findChromium` finds one, as a sentence without its full stop. */
export function howToGetChromium(setting: string): string {
  return setting === ''
    ? 'there is no Chromium on this server: install it (package "chromium" or "chromium-headless-shell"), or name its executable in TAGWARDEN_CHROMIUM'
    : `TAGWARDEN_CHROMIUM names ${setting}, which is no executable file: name one, or leave it empty`
}

/** False for root: Chromium refuses to start with its sandbox there. */
export const hasSandbox = (): boolean => process.getuid?.() !== 0
