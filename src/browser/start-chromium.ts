import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { childEnv } from '../core/child-env.ts'
import { hasSandbox } from './find-chromium.ts'
import { PipeTransport } from './pipe-transport.ts'

/** A running Chromium. */
export interface RunningChromium {
  transport: PipeTransport
  /** Resolves with the reason, without a full stop, when the browser has exited. */
  gone: Promise<string>
  /** Returns the most recent output to stderr as one line. Empty when there was no output. */
  lastWords(): string
  /** Kills the browser immediately. */
  kill(): void
}

/** Features to disable, because they contact Google, display something to the user, or wait for input. */
const OFF_FEATURES = [
  'Translate',
  'MediaRouter',
  'DialMediaRouteProvider',
  'OptimizationHints',
  'OptimizationGuideModelDownloading',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'InterestFeedContentSuggestions',
  'NetworkTimeServiceQuerying',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'PrivacySandboxSettings4',
  // Search features that exist in the full browser but not in the headless shell.
  'PreconnectToSearch',
  'AimEnabled',
  'AimServerEligibilityEnabled',
  'AimServerRequestOnStartupEnabled',
  // Puppeteer can't follow targets while these features are enabled: https://crbug.com/1348106,
  // https://crbug.com/1492053.
  'AcceptCHFrame',
  'ProcessPerSiteUpToMainFrameThreshold',
  'IsolateSandboxedIframes',
]

const CACHE_BYTES = 64 * 2 ** 20

const FIXED = [
  '--headless',
  '--remote-debugging-pipe',
  '--hide-scrollbars',
  '--mute-audio',
  '--no-first-run',
  '--lang=en-US',
  '--force-color-profile=srgb',
  '--password-store=basic',
  '--use-mock-keychain',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-field-trial-config',
  '--safebrowsing-disable-auto-update',
  '--metrics-recording-only',
  '--no-default-browser-check',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-search-engine-choice-screen',
  '--noerrdialogs',
  '--disable-infobars',
  '--disable-hang-monitor',
  '--disable-prompt-on-repost',
  '--deny-permission-prompts',
  // Keeps pages running while they are not visible.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-popup-blocking',
  '--disable-ipc-flooding-protection',
  '--allow-pre-commit-input',
  '--enable-automation',
  `--disk-cache-size=${CACHE_BYTES}`,
  `--media-cache-size=${CACHE_BYTES}`,
  `--disable-features=${OFF_FEATURES.join(',')}`,
]

/** A host name that can't be resolved. The full browser asks Google who is signed in, and this can't be disabled. */
const NOBODY = 'nobody.invalid'

/**
 * Returns flags that send all traffic to the proxy, even traffic to the loopback address. Chromium then resolves no
 * host names and uses no UDP.
 */
const throughProxy = (port: number) => [
  `--proxy-server=http://127.0.0.1:${port}`,
  `--proxy-bypass-list=<-loopback>;${NOBODY}`,
  `--gaia-url=https://${NOBODY}`,
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--disable-quic',
  // The headless shell supports one of these flags, and the full browser supports the other.
  ...['--force-webrtc-ip-handling-policy', '--webrtc-ip-handling-policy'].map(
    (name) => `${name}=disable_non_proxied_udp`,
  ),
]

const SANDBOX = hasSandbox() ? [] : ['--no-sandbox']

export interface ChromiumOptions {
  /** Folder for all files of the browser. */
  folder: string
  proxyPort: number
  /** User agent of tabs, frames and workers that have no other user agent set. Null for Chromium's default. */
  userAgent: string | null
}

/** Starts Chromium with a clean profile. Chromium exits when this process exits. */
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

/** Maximum number of stderr characters stored. */
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
