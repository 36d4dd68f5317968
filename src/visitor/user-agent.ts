import { isbot } from 'isbot'
import { UAParser } from 'ua-parser-js'
import { CORRECTIONS, LIBRARIES, LIBRARY, NO_BOTS } from './agent-corrections.ts'
import { BRANDS, BROWSERS, DESKTOP_SYSTEMS, GENERIC_BROWSERS, SYSTEMS } from './agent-names.ts'
import { type ClientHints, keyOfHints, majorVersion, type ParsedHints, parseHints } from './client-hints.ts'

/** The software of a visitor. Every name is one of a closed list of at most 40 characters. */
export interface VisitorSoftware {
  /**
   * Family of the browser, whatever the system: `Chrome`, `Safari`, `Edge`, `Samsung Internet`. The browser within an
   * app has the name of the app (`Facebook`, `Instagram`, `TikTok`, `Google app`), or `Android WebView` or
   * `Safari (in-app)` if the app is not named. For an app or a server that sends no browser's agent, the library that
   * sends (`okhttp`, `CFNetwork`, `curl`). Null if unknown.
   */
  browser: string | null
  /** Major version, 1 to 5 digits. For the browser within a named app, the version of the app. Null if unknown. */
  browserVersion: string | null
  /**
   * Family of the operating system: `Windows`, `macOS`, `iOS`, `Android`, `ChromeOS`, `Linux` and others. An iPad is
   * `iOS`, but if it asks for desktop sites, as it does by default, its agent is that of a Mac. Null if unknown.
   */
  os: string | null
  /**
   * Type of the device. Crawlers, monitors and headless browsers are `bot`. Null for televisions, consoles, watches and
   * cars, for the libraries of servers and iOS apps, and if unknown.
   */
  device: 'desktop' | 'phone' | 'tablet' | 'bot' | null
}

/** Longer agents are cut. The names that matter are near the start, and the agents of apps have up to 450 characters. */
const AGENT_LENGTH_MAX = 500

/**
 * Number of recent results of which each of two maps holds at most as many. When the newer one is full, it replaces the
 * older one. With the longest agents and hints, both take about 10 MB.
 */
const RECENT_MAX = 4000
/** Results of longer keys are not stored, in characters. */
const KEY_LENGTH_MAX = 1000

let recent = new Map<string, Readonly<VisitorSoftware>>()
let older = new Map<string, Readonly<VisitorSoftware>>()

/**
 * Reads the software of a visitor from its user agent and client hints. Hints take precedence, because browsers freeze
 * parts of the agent, except that an app named by the agent is not replaced by the browser on which it is based.
 *
 * Never throws. Unreadable values are null.
 *
 * @param userAgent only the first 500 characters are read; null for none
 * @param hints null for none
 */
export function readUserAgent(userAgent: string | null, hints: ClientHints | null): Readonly<VisitorSoftware> {
  const agent = userAgent ?? ''
  // The length keeps the end of an agent from being read as hints of another.
  const key = `${agent.length}:${agent}${keyOfHints(hints)}`
  // A part of a longer text would keep all of it in memory.
  if (agent.length > AGENT_LENGTH_MAX || key.length > KEY_LENGTH_MAX)
    return readSoftware(agent.slice(0, AGENT_LENGTH_MAX), parseHints(hints))
  const known = recent.get(key)
  if (known) return known
  const software = older.get(key) ?? readSoftware(agent, parseHints(hints))
  if (recent.size >= RECENT_MAX) {
    older = recent
    recent = new Map()
  }
  recent.set(key, software)
  return software
}

/** Returns a name such as `Firefox 146, Windows`; null if the user agent names no known browser. */
export function browserName(userAgent: string): string | null {
  const { browser, browserVersion, os } = readUserAgent(userAgent, null)
  if (browser === null) return null
  const versioned = browserVersion === null ? browser : `${browser} ${browserVersion}`
  return os === null ? versioned : `${versioned}, ${os}`
}

function readSoftware(sent: string, hints: ParsedHints | null): VisitorSoftware {
  // Agents from the logs of IIS, which servers send with past events, have `+` for each space.
  const agent = sent.includes(' ') ? sent : sent.replaceAll('+', ' ')
  const library = LIBRARY.exec(agent)
  const parser = new UAParser(agent || ' ')
  const os = SYSTEMS.get(hints?.platform?.toLowerCase() ?? '') ?? systemOf(parser, agent)
  if (library && !agent.startsWith('Mozilla/')) {
    const [, anywhere, anyVersion, leading, version] = library
    const browser = LIBRARIES.get((anywhere ?? leading ?? '').toLowerCase()) ?? null
    // Dalvik is the runtime of Android apps. Other libraries don't tell the device.
    const device = browser === 'Dalvik' ? (typedDevice(parser) ?? 'phone') : null
    return { browser, browserVersion: majorVersion(anyVersion ?? version), os, device }
  }
  const { browser, browserVersion } = withHints(browserOf(parser, agent), hints)
  const isBot = browser === 'HeadlessChrome' || isbot(agent.replace(NO_BOTS, ''))
  return { browser, browserVersion, os, device: isBot ? 'bot' : deviceOf(agent, os, hints) }
}

type Browser = Pick<VisitorSoftware, 'browser' | 'browserVersion'>

function browserOf(parser: UAParser, agent: string): Browser {
  for (const { browser, pattern } of CORRECTIONS) {
    const match = pattern.exec(agent)
    if (match) return { browser, browserVersion: majorVersion(match[1]) }
  }
  const { name, version } = parser.getBrowser()
  // In an unknown app on iOS, only the engine is reported. Its version is that of the system.
  if (/^(?:webkit|khtml)$/i.test(name ?? '')) {
    const [, iosVersion] = /\((?:iPhone|iPad|iPod).* OS (\d+)_/.exec(agent) ?? []
    return { browser: iosVersion ? 'Safari (in-app)' : null, browserVersion: majorVersion(iosVersion) }
  }
  const browser = BROWSERS.get(name?.toLowerCase() ?? '') ?? null
  return { browser, browserVersion: browser && majorVersion(version) }
}

function withHints(fromAgent: Browser, hints: ParsedHints | null): Browser {
  let best: Browser | null = null
  for (const { brand, version } of hints?.brands ?? []) {
    const browser = BRANDS.get(brand)
    const known = browser === fromAgent.browser ? fromAgent.browserVersion : null
    if (browser && (!best || rank(browser) > rank(best.browser))) best = { browser, browserVersion: version ?? known }
  }
  return best && rank(best.browser) >= rank(fromAgent.browser) ? best : fromAgent
}

/** Returns how specific a browser's name is. */
function rank(browser: string | null): number {
  if (browser === null) return -1
  const index = GENERIC_BROWSERS.indexOf(browser)
  return index < 0 ? GENERIC_BROWSERS.length : index
}

function systemOf(parser: UAParser, agent: string): string | null {
  // The platform of Java on phones, taken for iOS because of the letters of its profile.
  if (/\(J2ME\/(?!iPhone)/.test(agent)) return null
  // Apps without the system's full name.
  if (/[ (;]i(?:Pad)?OS[ /]\d/.test(agent)) return 'iOS'
  // Apps on a Mac. Without the processor, the same library is that of iOS.
  if (/\bCFNetwork\/.*\bDarwin\/.*\(x86_64\)/.test(agent)) return 'macOS'
  return SYSTEMS.get(parser.getOS().name?.toLowerCase() ?? '') ?? null
}

function deviceOf(agent: string, os: string | null, hints: ParsedHints | null): VisitorSoftware['device'] {
  const [formFactor] = hints?.formFactors ?? []
  if (formFactor) return FORM_FACTORS.get(formFactor) ?? null
  // Chromium replaces the model in the agent by `K`.
  const withModel = hints?.model ? agent.replace('; K)', () => `; ${hints.model})`) : agent
  const type = typedDevice(new UAParser(withModel || ' '))
  if (hints?.mobile && type !== 'tablet') return 'phone'
  if (type === null) return null
  if (os !== null && DESKTOP_SYSTEMS.includes(os)) return 'desktop'
  if (os === 'Linux') return type ?? 'desktop'
  const isPhone = hints?.mobile !== false && (type === 'phone' || (type === undefined && /\bMobile\b/.test(agent)))
  if (os === 'Android' && (hints?.mobile === false || agent.startsWith('Mozilla/'))) return isPhone ? 'phone' : 'tablet'
  return type ?? null
}

const FORM_FACTORS: ReadonlyMap<string, VisitorSoftware['device']> = new Map([
  ['Desktop', 'desktop'],
  ['Mobile', 'phone'],
  ['Tablet', 'tablet'],
])

/** Returns the type of device that ua-parser-js reports: null for types such as televisions, undefined if it is unknown. */
function typedDevice(parser: UAParser): 'phone' | 'tablet' | null | undefined {
  const { type } = parser.getDevice()
  return type === undefined ? undefined : type === 'mobile' ? 'phone' : type === 'tablet' ? 'tablet' : null
}
