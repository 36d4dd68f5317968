import { childEnv } from '../core/child-env.ts'
import { SECOND_MS } from '../core/clock.ts'

/** Names of the executable, in order of increasing resource usage. */
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

/** Folders searched in addition to `PATH`, which may contain few folders when the server runs as a service. */
const FOLDERS = [
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/snap/bin',
  '/usr/lib/chromium',
  '/usr/lib/chromium-browser',
  '/opt/google/chrome',
  '/opt/chromium',
]

const MAC_APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/**
 * Returns the path of the Chromium executable; null when there is none.
 * @param setting value of `TAGWARDEN_CHROMIUM`: the only path, or the only name in `PATH`, to use. If empty, the usual
 * names are searched for in `PATH` and in the usual folders.
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

/** Timeout for the command that prints the version. */
const VERSION_MS = 5 * SECOND_MS

/** Returns the version printed by an executable, such as `153.0.8010.0`; null when it prints none. */
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
    // The executable can't be started. This error is reported when the browser is opened.
    return null
  }
}

/** Extracts the version from a browser's name: `Chromium 153.0.8010.0`, `HeadlessChrome/153.0.8010.0`. */
export const versionIn = (said: string): string | null => /\d+(?:\.\d+){3}/.exec(said)?.[0] ?? null

/** Returns instructions for making Chromium available to the server, without a full stop. */
export function howToGetChromium(setting: string): string {
  return setting === ''
    ? 'Chromium is not installed on this server: install the package "chromium" or "chromium-headless-shell", or set TAGWARDEN_CHROMIUM to its executable'
    : `TAGWARDEN_CHROMIUM is ${setting}, which is not an executable file: set it to the executable of Chromium, or leave it empty`
}

/** False for root, because Chromium does not start with its sandbox as root. */
export const hasSandbox = (): boolean => process.getuid?.() !== 0
