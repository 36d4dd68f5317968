import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { childEnv } from '../core/child-env.ts'
import { hasSandbox } from './chromium.ts'
import { PipeTransport } from './pipe-transport.ts'

/** A running Chromium. */
export interface RunningChromium {
  transport: PipeTransport
  /** Resolves with the reason, without a full stop, when it has ended. */
  gone: Promise<string>
  /** Returns its last output to stderr as one line; empty: none. */
  lastWords(): string
  /** Ends it at once. */
  kill(): void
}

/** Disabled features: everything that Chromium requests from its maker, shows to its user, or waits for. */
const OFF_FEATURES = [
  ...['Translate', 'MediaRouter', 'DialMediaRouteProvider', 'OptimizationHints', 'OptimizationGuideModelDownloading'],
  ...['AutofillServerCommunication', 'CertificateTransparencyComponentUpdater', 'InterestFeedContentSuggestions'],
  ...['NetworkTimeServiceQuerying', 'HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'PrivacySandboxSettings4'],
  // Search features of the full browser.
  ...['PreconnectToSearch', 'AimEnabled', 'AimServerEligibilityEnabled', 'AimServerRequestOnStartupEnabled'],
  // Puppeteer can't follow targets with them: https://crbug.com/1348106, https://crbug.com/1492053.
  ...['AcceptCHFrame', 'ProcessPerSiteUpToMainFrameThreshold', 'IsolateSandboxedIframes'],
]

const CACHE_BYTES = 64 * 2 ** 20

const FIXED = [
  ...['--headless', '--remote-debugging-pipe', '--hide-scrollbars', '--mute-audio', '--no-first-run', '--lang=en-US'],
  ...['--force-color-profile=srgb', '--password-store=basic', '--use-mock-keychain', '--disable-dev-shm-usage'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-domain-reliability'],
  ...['--disable-sync', '--disable-default-apps', '--disable-extensions', '--disable-client-side-phishing-detection'],
  ...['--disable-component-extensions-with-background-pages', '--disable-field-trial-config'],
  ...['--safebrowsing-disable-auto-update', '--metrics-recording-only', '--no-default-browser-check'],
  ...['--disable-breakpad', '--disable-crash-reporter', '--disable-search-engine-choice-screen', '--noerrdialogs'],
  ...['--disable-infobars', '--disable-hang-monitor', '--disable-prompt-on-repost', '--deny-permission-prompts'],
  // Pages keep running although they are not visible.
  ...['--disable-background-timer-throttling', '--disable-backgrounding-occluded-windows'],
  ...['--disable-renderer-backgrounding', '--disable-popup-blocking', '--disable-ipc-flooding-protection'],
  ...['--allow-pre-commit-input', '--enable-automation'],
  `--disk-cache-size=${CACHE_BYTES}`,
  `--media-cache-size=${CACHE_BYTES}`,
  `--disable-features=${OFF_FEATURES.join(',')}`,
]

/** An unresolvable name. The full browser asks its maker who is signed in, which can't be disabled. */
const NOBODY = 'nobody.invalid'

/** Sends all traffic to the proxy, including loopback; no name is resolved here, and nothing uses UDP. */
const throughProxy = (port: number) => [
  `--proxy-server=http://127.0.0.1:${port}`,
  `--proxy-bypass-list=<-loopback>;${NOBODY}`,
  `--gaia-url=https://${NOBODY}`,
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--disable-quic',
  // The headless shell knows one name, the full browser the other.
  ...['--force-webrtc-ip-handling-policy', '--webrtc-ip-handling-policy'].map(
    (name) => `${name}=disable_non_proxied_udp`,
  ),
]

const SANDBOX = hasSandbox() ? [] : ['--no-sandbox']

export interface ChromiumOptions {
  /** Folder for all of its files. */
  folder: string
  proxyPort: number
  /** User agent of tabs, frames and workers without another one; null: Chromium's own. */
  userAgent: string | null
}

/** Starts Chromium with a clean profile. It ends with this process. */
export function startChromium(executable: string, { folder, proxyPort, userAgent }: ChromiumOptions) {
  const temporary = join(folder, 'tmp')
  const profile = join(folder, 'profile')
  for (const path of [temporary, profile]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const own = [`--user-data-dir=${profile}`, ...(userAgent === null ? [] : [`--user-agent=${userAgent}`])]
  const args = [...FIXED, ...SANDBOX, ...throughProxy(proxyPort), ...own, 'about:blank']
  const chromium = spawn(executable, args, {
    env: childEnv({ HOME: folder, TMPDIR: temporary }),
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  })
  return running(chromium)
}

/** Maximum characters stored of its stderr. */
const MAX_WORDS = 4000

function running(chromium: ChildProcess): RunningChromium {
  let words = ''
  chromium.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-MAX_WORDS)
  })
  const gone = new Promise<string>((resolve) => {
    chromium.once('error', (error) => resolve(`the browser could not be started: ${error.message}`))
    chromium.once('exit', (code, signal) => resolve(`the browser ended (${signal ?? `exit code ${code}`})`))
  })
  const [, , , writer, reader] = chromium.stdio
  return {
    transport: new PipeTransport(writer as Writable, reader as Readable),
    gone,
    lastWords: () => words.trim().split('\n').at(-1) ?? '',
    kill: () => void chromium.kill('SIGKILL'),
  }
}
