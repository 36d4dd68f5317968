import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { VisitorSoftware } from './user-agent.ts'

/** An agent whose software is known. Fields that the source doesn't state are absent. */
export interface KnownAgent extends Partial<VisitorSoftware> {
  agent: string
  source: string
}

const require = createRequire(import.meta.url)
/** Paths of the packages from which the agents and rules are. */
const SOURCES = {
  crawlers: require.resolve('crawler-user-agents/package.json'),
  parserTests: require.resolve('ua-parser-js-tests/package.json'),
  rules: require.resolve('uap-core/package.json'),
  rulesTest: require.resolve('@financial-times/useragent_parser/package.json'),
  traffic: require.resolve('user-agents/package.json'),
}
const read = (source: keyof typeof SOURCES, path: string) => readFileSync(join(dirname(SOURCES[source]), path), 'utf8')

/**
 * Agents of browsers in use. Other engines are of browsers that receive no updates and that hardly any site works with:
 * WebKit before 537.36 (2013), Firefox before 60 (2018), Internet Explorer before 11,
 * Opera Mini before 8 (2014).
 */
const IN_USE = /AppleWebKit\/(?:537\.[3-9]\d|6\d\d)|Firefox\/(?:[6-9]\d|\d{3})|Trident\/7|Opera Mini\/(?:[89]|\d\d)/

/** Browsers that are compared: families by the names of uap-core, and ours. */
const BROWSERS: Record<string, string> = {
  'Amazon Silk': 'Amazon Silk',
  'Chrome Mobile WebView': 'Android WebView',
  'Chrome Mobile iOS': 'Chrome',
  'Chrome Mobile': 'Chrome',
  Chrome: 'Chrome',
  Chromium: 'Chromium',
  'Coc Coc': 'Coc Coc',
  Brave: 'Brave',
  'DuckDuckGo Mobile': 'DuckDuckGo',
  DuckDuckGo: 'DuckDuckGo',
  'Edge Mobile': 'Edge',
  Edge: 'Edge',
  Electron: 'Electron',
  Facebook: 'Facebook',
  'Facebook Messenger': 'Messenger',
  'Firefox Mobile': 'Firefox',
  'Firefox iOS': 'Firefox',
  Firefox: 'Firefox',
  Flipboard: 'Flipboard',
  Google: 'Google app',
  HeadlessChrome: 'HeadlessChrome',
  IE: 'Internet Explorer',
  Instagram: 'Instagram',
  Iron: 'SRWare Iron',
  LINE: 'LINE',
  Maxthon: 'Maxthon',
  MiuiBrowser: 'Mi Browser',
  'Mobile Safari UI/WKWebView': 'Safari (in-app)',
  'Mobile Safari': 'Safari',
  'Oculus Browser': 'Oculus Browser',
  'Opera Mini': 'Opera Mini',
  'Opera Mobile': 'Opera',
  'Opera Touch': 'Opera',
  Opera: 'Opera',
  'Outlook-iOS-Android': 'Outlook',
  Pinterest: 'Pinterest',
  'QQ Browser Mobile': 'QQ Browser',
  'QQ Browser': 'QQ Browser',
  Safari: 'Safari',
  'Samsung Internet': 'Samsung Internet',
  'Seznam prohlížeč': 'Seznam',
  'Slack Desktop Client': 'Slack',
  Snapchat: 'Snapchat',
  Spotify: 'Spotify',
  'UC Browser': 'UC Browser',
  Vivaldi: 'Vivaldi',
  Whale: 'Whale',
  'Yandex Browser': 'Yandex Browser',
}

/** Operating systems of uap-core, by its names, and ours. */
const SYSTEMS: Record<string, string> = {
  'Chrome OS': 'ChromeOS',
  'Mac OS X': 'macOS',
  Android: 'Android',
  Chromecast: 'Chromecast',
  Debian: 'Linux',
  Fedora: 'Linux',
  KaiOS: 'KaiOS',
  Linux: 'Linux',
  'Linux Mint': 'Linux',
  Tizen: 'Tizen',
  Ubuntu: 'Linux',
  Web0S: 'webOS',
  Windows: 'Windows',
  'Windows Phone': 'Windows Phone',
  iOS: 'iOS',
}

const DEVICES: Record<string, VisitorSoftware['device']> = {
  console: null,
  desktop: 'desktop',
  embedded: null,
  mobile: 'phone',
  smarttv: null,
  tablet: 'tablet',
  wearable: null,
}

/** Tokens of agents that name the engine, the system or its version. */
const ENGINE_TOKENS =
  /^(?:Mozilla|AppleWebKit|Gecko|Chrome|CriOS|Safari|Version|Mobile|Build|Firefox|Trident|rv|Android|Linux|MIUI)$/

interface Rule {
  regex: RegExp
  [replacement: string]: unknown
}

const RULES = Bun.YAML.parse(read('rules', 'regexes.yaml')) as Record<string, { regex: string; regex_flag?: string }[]>
const rulesOf = (kind: string): Rule[] =>
  (RULES[kind] ?? []).map((rule) => ({ ...rule, regex: new RegExp(rule.regex, rule.regex_flag) }))
const BROWSER_RULES = rulesOf('user_agent_parsers')
const SYSTEM_RULES = rulesOf('os_parsers')

/** Applies the first rule that matches, as uap-core's specification says. */
function applyRules(rules: readonly Rule[], agent: string, replacements: readonly string[]): (string | undefined)[] {
  for (const rule of rules) {
    const match = rule.regex.exec(agent)
    if (!match) continue
    return replacements.map((name, index) => {
      const text = rule[name] ?? match[index + 1]
      return text === undefined ? undefined : String(text).replace(/\$(\d)/g, (_, group) => match[group] ?? '')
    })
  }
  return []
}

/** Returns the family and major version that uap-core reads from an agent. */
export function readByRules(agent: string): { family: string; major: string } {
  const [family = 'Other', major = ''] = applyRules(BROWSER_RULES, agent, ['family_replacement', 'v1_replacement'])
  return { family, major }
}

/** Returns the agents of uap-core's own test, with the expected families and versions. */
export function rulesTest(): { agent: string; family: string; major: string }[] {
  const source = read('rulesTest', 'test/ua.test.js')
  const expectation =
    /uaParser\((".*[^\\]")\);\s*assert\.strictEqual\(results\.family, ("(?:[^"\\]|\\.)*"),.*\s*assert\.strictEqual\(results\.major \|\| "", ("[^"]*")/g
  return [...source.matchAll(expectation)].map(([, ...texts]) => {
    const [agent, family, major] = texts.map((text) => JSON.parse(text))
    return { agent, family, major }
  })
}

/**
 * Returns true if uap-core gives an agent the family of its engine although the agent names another product, such as
 * `Ddg/17.4`.
 */
function isUnnamed(agent: string, family: string): boolean {
  if (!/^(?:Chrome|Mobile Safari|Safari|Android)/.test(family)) return false
  const products = agent.replace(/\([^)]*\)/g, '').matchAll(/([A-Za-z][\w-]*)\/v?\d/g)
  return [...products].some(([, product = '']) => !ENGINE_TOKENS.test(product)) || /Safari\/[\d.]+ \S/.test(agent)
}

function known(source: string, agent: string, device?: string): KnownAgent {
  const { family, major } = readByRules(agent)
  const [system = ''] = applyRules(SYSTEM_RULES, agent, ['os_replacement'])
  const browser = isUnnamed(agent, family) ? undefined : BROWSERS[family]
  return {
    source,
    agent,
    ...(browser === undefined ? {} : { browser }),
    ...(browser === undefined || major === '' ? {} : { browserVersion: major }),
    ...(SYSTEMS[system] === undefined ? {} : { os: SYSTEMS[system] }),
    ...(device === undefined || DEVICES[device] === undefined ? {} : { device: DEVICES[device] }),
  }
}

/**
 * Returns all distinct agents of browsers in use, with the software that uap-core 0.18.0 reads from them by its rules. The type of
 * the device is that of the source, if it states one.
 */
export function knownBrowsers(): KnownAgent[] {
  const traffic = JSON.parse(read('traffic', 'dist/user-agents.json')) as Record<string, string>[]
  const tests = (name: string) =>
    JSON.parse(read('parserTests', `test/${name}-test.json`)) as { ua: string; expect: Record<string, string> }[]
  const agents = [
    ...traffic.map(({ userAgent = '', deviceCategory }) => known('user-agents 2.1.198', userAgent, deviceCategory)),
    ...tests('device').map(({ ua, expect }) => known('tests of ua-parser-js 1.0.2', ua, expect.type)),
    ...tests('browser').map(({ ua }) => known('tests of ua-parser-js 1.0.2', ua)),
    ...tests('os').map(({ ua }) => known('tests of ua-parser-js 1.0.2', ua)),
    ...rulesTest().map(({ agent }) => known('tests of uap-core', agent)),
  ]
  const distinct = new Map(agents.toReversed().map((one) => [one.agent, one]))
  return [...distinct.values()].filter(({ agent }) => IN_USE.test(agent))
}

/** Returns the agents of crawlers, monitors and tools from crawler-user-agents, without libraries for HTTP. */
export function knownBots(): string[] {
  const crawlers = JSON.parse(read('crawlers', 'crawler-user-agents.json')) as {
    instances: string[]
    tags: string[]
  }[]
  return crawlers.filter(({ tags }) => !tags.includes('http-library')).flatMap(({ instances }) => instances)
}
