import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { BRANDS, BROWSERS } from './agent-names.ts'
import type { ClientHints } from './client-hints.ts'
import { knownBots, knownBrowsers, readByRules, rulesTest } from './known-agents.fixture.ts'
import { readUserAgent } from './user-agent.ts'

const FIELDS = ['browser', 'browserVersion', 'os', 'device'] as const
type Line = [browser: string | null, browserVersion: string | null, os: string | null, device: string | null]
const lineOf = (agent: string | null, hints: ClientHints | null): Line => {
  const { browser, browserVersion, os, device } = readUserAgent(agent, hints)
  return [browser, browserVersion, os, device]
}

const browsers = knownBrowsers()
const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const PIXEL =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UD1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0'
const FROZEN = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0'

describe('known agents', () => {
  test("uap-core's rules give the results that its own test expects", () => {
    const cases = rulesTest()
    expect(cases.length).toBeGreaterThan(14_000)
    const right = cases.filter(({ agent, family, major }) => {
      const read = readByRules(agent)
      return read.family === family && read.major === major
    })
    // The package that contains the test replaces the rules for 52 agents on iOS.
    expect(cases.length - right.length).toBe(52)
  })

  test.each(FIELDS.map((field) => [field]))('%s is right for at least 99 %% of people', (field) => {
    const cases = browsers.filter((known) => known[field] !== undefined)
    expect(cases.length).toBeGreaterThanOrEqual(500)
    const wrong = cases.filter(({ agent, [field]: expected }) => readUserAgent(agent, null)[field] !== expected)
    expect(wrong.map(({ agent }) => agent).slice(Math.floor(cases.length / 100))).toEqual([])
  })

  test.each([...new Set(browsers.map(({ source }) => source))].map((source) => [source]))(
    'at least 97 %% of the fields are right for each source: %s',
    (source) => {
      const fields = browsers
        .filter((known) => known.source === source)
        .flatMap((known) => FIELDS.filter((field) => known[field] !== undefined).map((field) => ({ known, field })))
      const wrong = fields.filter(({ known, field }) => readUserAgent(known.agent, null)[field] !== known[field])
      expect(wrong.map(({ known }) => known.agent).slice(Math.floor(fields.length * 0.03))).toEqual([])
    },
  )

  test('at least 99 % of bots are known, and of people at most 0.5 % are bots', () => {
    const isBot = (agent: string) => readUserAgent(agent, null).device === 'bot'
    const bots = knownBots()
    expect(bots.length).toBeGreaterThan(2000)
    expect(bots.filter((agent) => !isBot(agent)).slice(Math.floor(bots.length / 100))).toEqual([])
    // Where the source says which device people held.
    const people = browsers.filter(({ device }) => device !== undefined)
    expect(people.filter(({ agent }) => isBot(agent)).length).toBeLessThanOrEqual(people.length / 200)
  })
})

test.each<[string, Line]>([
  // Agents of apps, as their vendors send them.
  [`${IPHONE} Mobile/15E148`, ['Safari (in-app)', '17', 'iOS', 'phone']],
  [`${IPHONE} Mobile/15E148 [FBAN/FBIOS;FBAV/468.0.0.34.71;FBDV/iPhone15,2]`, ['Facebook', '468', 'iOS', 'phone']],
  [`${IPHONE} Mobile/15E148 [FBAN/MessengerLiteForiOS;FBAV/460.0.0.1]`, ['Messenger', '460', 'iOS', 'phone']],
  [`${IPHONE} Mobile/15E148 Instagram 334.0.4.32.98 (iPhone15,2)`, ['Instagram', '334', 'iOS', 'phone']],
  [`${IPHONE} Mobile/15E148 musical_ly_34.9.0 BytedanceWebview/d8a21c6`, ['TikTok', '34', 'iOS', 'phone']],
  [`${IPHONE} Mobile/15E148 BytedanceWebview/d8a21c6`, ['TikTok', null, 'iOS', 'phone']],
  [`${IPHONE} GSA/319.0.638705450 Mobile/15E148 Safari/604.1`, ['Google app', '319', 'iOS', 'phone']],
  [`${IPHONE} CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1`, ['Chrome', '126', 'iOS', 'phone']],
  [`${IPHONE} Version/17.5 Mobile/15E148 Safari/604.1 Brave`, ['Brave', '17', 'iOS', 'phone']],
  [`${PIXEL} Chrome/126.0.0.0 Mobile Safari/537.36`, ['Android WebView', '126', 'Android', 'phone']],
  [
    `${PIXEL} Chrome/126.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/468.0.0.0;]`,
    ['Facebook', '468', 'Android', 'phone'],
  ],
  [`${PIXEL} Chrome/126.0.0.0 Mobile Safari/537.36 GSA/15.24.2`, ['Google app', '15', 'Android', 'phone']],
  [
    `${PIXEL} Chrome/126.0.0.0 Mobile Safari/537.36 trill_340905 AppName/trill BytedanceWebview/d8a21c6`,
    ['TikTok', '34', 'Android', 'phone'],
  ],
  [
    `${PIXEL} Chrome/138.0.0.0 Mobile Safari/537.36 Barcelona 390.0.0.1 Android`,
    ['Threads', '390', 'Android', 'phone'],
  ],
  // Apps and servers that send their own events.
  ['Shop/412 CFNetwork/1496.0.7 Darwin/23.5.0', ['CFNetwork', '1496', 'iOS', null]],
  ['Shop/412 CFNetwork/1121.1.2 Darwin/19.2.0 (x86_64)', ['CFNetwork', '1121', 'macOS', null]],
  ['Shop/5.2 (com.shop; build:7; iOS 17.4.1) Alamofire/5.8.1', ['Alamofire', '5', 'iOS', null]],
  ['Shop/5.2 (iPhone; iOS 17.5; Scale/3.00)', [null, null, 'iOS', 'phone']],
  ['okhttp/4.12.0', ['okhttp', '4', null, null]],
  ['Shop/3.1 (Android 14) okhttp/4.12.0', ['okhttp', '4', 'Android', null]],
  ['Dalvik/2.1.0 (Linux; U; Android 13; SM-X906B Build/TP1A)', ['Dalvik', '2', 'Android', 'tablet']],
  ['Dalvik/2.1.0 (Linux; U; Android 13; Unheard-Of Build/TP1A)', ['Dalvik', '2', 'Android', 'phone']],
  ['curl/8.5.0', ['curl', '8', null, null]],
  ['python-requests/2.32.3', ['python-requests', '2', null, null]],
  ['Python/3.12 aiohttp/3.9.5', ['Python', '3', null, null]],
  ['node', ['Node.js', null, null, null]],
  ['Java-http-client/21.0.1', ['Java', '21', null, null]],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Till/3.1 Chrome/126.0.0.0 Electron/31.2.0 Safari/537.36',
    ['Electron', '31', 'Windows', 'desktop'],
  ],
  // Televisions and consoles.
  [
    'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0.4606.128 Safari/537.36 WebAppManager',
    ['Chrome', '94', 'webOS', null],
  ],
  [
    'Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.5) AppleWebKit/537.36 (KHTML, like Gecko) 85.0.4183.93/6.5 TV Safari/537.36',
    ['Safari', null, 'Tizen', null],
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox Series X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0',
    ['Edge', '126', 'Windows', null],
  ],
  // The separator of fields in the logs of IIS is a space, so spaces are written as `+`.
  [`${IPHONE} Version/17.5 Mobile/15E148 Safari/604.1`.replaceAll(' ', '+'), ['Safari', '17', 'iOS', 'phone']],
  ['', [null, null, null, null]],
])('reads %s', (agent, expected) => {
  expect(lineOf(agent, null)).toEqual(expected)
})

test.each<[string, string | null, ClientHints, Line]>([
  [
    'a brand that the agent hides',
    `${FROZEN} Mobile Safari/537.36`,
    {
      brands: [
        { brand: 'Brave', version: '140' },
        { brand: 'Chromium', version: '140' },
      ],
    },
    ['Brave', '140', 'Android', 'phone'],
  ],
  [
    'the model of a tablet',
    `${FROZEN} Mobile Safari/537.36`,
    { mobile: true, platform: 'Android', model: 'SM-X906B' },
    ['Chrome', '140', 'Android', 'tablet'],
  ],
  ['a tablet', `${FROZEN} Safari/537.36`, { 'sec-ch-ua-mobile': '?0' }, ['Chrome', '140', 'Android', 'tablet']],
  [
    'the form factor',
    `${FROZEN} Mobile Safari/537.36`,
    { 'Sec-CH-UA-Form-Factors': '"Tablet"' },
    ['Chrome', '140', 'Android', 'tablet'],
  ],
  [
    'the exact versions',
    null,
    {
      brands: [{ brand: 'Opera', version: '1' }],
      fullVersionList: [
        { brand: 'Chromium', version: '140.0.7339.80' },
        { brand: 'Opera', version: '124.0.5705.15' },
      ],
      platform: 'macOS',
    },
    ['Opera', '124', 'macOS', 'desktop'],
  ],
  [
    'a headless browser',
    FROZEN,
    { 'sec-ch-ua': '"HeadlessChrome";v="140", "Chromium";v="140"' },
    ['HeadlessChrome', '140', 'Android', 'bot'],
  ],
  [
    'the app in which a web view is',
    `${PIXEL} Chrome/126.0.0.0 Mobile Safari/537.36 Instagram 334.0.4.32.98 Android`,
    { 'sec-ch-ua': '"Android WebView";v="126", "Chromium";v="126"', 'sec-ch-ua-mobile': '?1' },
    ['Instagram', '334', 'Android', 'phone'],
  ],
  [
    'the agent if only unknown brands are there',
    `${FROZEN} Mobile Safari/537.36`,
    { 'sec-ch-ua': '"Made up";v="7", "Not)A;Brand";v="99"', 'sec-ch-ua-platform': '"Unknown"' },
    ['Chrome', '140', 'Android', 'phone'],
  ],
  [
    'quotes and backslashes in a brand',
    null,
    { 'sec-ch-ua': String.raw`" Not;A\"\\Brand";v="99", "Microsoft Edge";v="140"` },
    ['Edge', '140', null, null],
  ],
  [
    'no hint of the wrong type',
    `${FROZEN} Mobile Safari/537.36`,
    { brands: { length: 1 }, mobile: 'yes', platform: 7, fullVersionList: [null, 3, { brand: 1 }], model: [] },
    ['Chrome', '140', 'Android', 'phone'],
  ],
])('client hints: %s', (_, agent, hints, expected) => {
  expect(lineOf(agent, hints)).toEqual(expected)
})

/**
 * Brands in the way of Chromium (`components/embedder_support/user_agent_utils.cc`): an invented brand of which two
 * characters and the version depend on the major version, in an order that depends on it as well.
 */
function chromiumBrands(brand: string, major: number): { brand: string; version: string }[] {
  const characters = [' ', '(', ':', '-', '.', '/', ')', ';', '=', '?', '_']
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]
  const of = (index: number) => characters[index % characters.length]
  const brands = [
    { brand: `Not${of(major)}A${of(major + 1)}Brand`, version: ['8', '99', '24'][major % 3] ?? '' },
    { brand: 'Chromium', version: `${major}` },
    { brand, version: `${major}` },
  ]
  const sorted: typeof brands = []
  for (const [index, place] of (orders[major % orders.length] ?? []).entries()) {
    const one = brands[index]
    if (one) sorted[place] = one
  }
  return sorted
}

describe('client hints of Chromium', () => {
  const names = { Chrome: 'Google Chrome', Edge: 'Microsoft Edge' } as Record<string, string>
  const platforms = { ChromeOS: 'Chrome OS' } as Record<string, string>
  const cases = browsers.filter(
    ({ agent, source, browser }) =>
      source.startsWith('user-agents') && names[browser ?? ''] && / Chrome\//.test(agent) && !/iPhone/.test(agent),
  )

  test.each([['headers'], ['userAgentData']])('without an agent, %s tell what the agent tells', (shape) => {
    expect(cases.length).toBeGreaterThan(500)
    const wrong = cases.filter(({ browser = null, browserVersion, os = null, device = null }) => {
      const brands = chromiumBrands(names[browser ?? ''] ?? '', Number(browserVersion))
      const platform = platforms[os ?? ''] ?? os
      const mobile = device === 'phone'
      const headers = {
        'sec-ch-ua': brands.map(({ brand, version }) => `"${brand}";v="${version}"`).join(', '),
        'sec-ch-ua-mobile': mobile ? '?1' : '?0',
        'sec-ch-ua-platform': `"${platform}"`,
      }
      const read = lineOf(null, shape === 'headers' ? headers : { brands, mobile, platform })
      return !Bun.deepEquals(read, [browser, browserVersion, os, device])
    })
    expect(wrong.slice(Math.floor(cases.length / 100))).toEqual([])
  })
})

describe('hostile input', () => {
  const word = fc.constantFrom(
    ...browsers.slice(0, 300).flatMap(({ agent }) => agent.split(/(?<=[ ;/(])/)),
    ...[...BROWSERS.keys(), ...BRANDS.keys()].map((name) => `${name}/`),
    '\u0000',
    '👩‍👩‍👧',
    'İ',
    '__proto__/1',
    'constructor/1',
  )
  const agents = fc.oneof(
    fc.string({ maxLength: 3000, unit: 'binary' }),
    fc.array(word, { maxLength: 80 }).map((words) => words.join('')),
    fc.tuple(word, fc.integer({ max: 2000, min: 1 })).map(([one, times]) => one.repeat(times)),
  )
  const key = fc.constantFrom('brands', 'fullVersionList', 'mobile', 'platform', 'model', 'formFactors', 'sec-ch-ua')
  const header = fc
    .array(fc.constantFrom('"', '\\', ';v="', ', ', 'Brave', 'Chromium', '140', '?1'))
    .map((s) => s.join(''))
  const hints = fc.oneof(
    fc.dictionary(key, fc.oneof(fc.jsonValue(), header, fc.array(fc.record({ brand: fc.string(), version: header })))),
    fc.constant(null),
  )

  test('never fails, and gives short names', () => {
    fc.assert(
      fc.property(fc.option(agents), hints, (agent, given) => {
        const { browser, browserVersion, os, device } = readUserAgent(agent, given)
        for (const name of [browser, os]) if (name !== null) expect(name).toMatch(/^[\w .()-]{2,40}$/)
        if (browserVersion !== null) expect(browserVersion).toMatch(/^\d{1,5}$/)
        expect(['desktop', 'phone', 'tablet', 'bot', null]).toContain(device)
        // A result from memory is the same as the first.
        expect(readUserAgent(agent, given)).toEqual({ browser, browserVersion, os, device })
      }),
      { numRuns: 2000 },
    )
  })

  test('the case of letters makes no new names', () => {
    const names = new Set<string | null>()
    for (const { agent } of browsers) names.add(readUserAgent(agent, null).browser)
    for (const { agent } of browsers) {
      names.add(readUserAgent(agent.toUpperCase(), null).browser)
      names.add(readUserAgent(agent.toLowerCase(), null).browser)
    }
    const closed = new Set([...BROWSERS.values(), ...BRANDS.values()].map((name) => name.toLowerCase()))
    const others = [...names].filter((name) => name !== null && !closed.has(name.toLowerCase()))
    expect(new Set(others.map((name) => name?.toLowerCase())).size).toBe(others.length)
  })

  test('memory stays bounded when every agent is different', () => {
    const used = () => {
      Bun.gc(true)
      return process.memoryUsage().heapUsed
    }
    const before = used()
    // 20 MB if all were stored, 4 MB in the two maps.
    for (let count = 0; count < 40_000; count++) readUserAgent(`${count}`.padEnd(480, 'x'), null)
    expect(used() - before).toBeLessThan(12e6)
  })

  test('hints in an agent are not taken for those of others', () => {
    const agent = `${FROZEN} Mobile Safari/537.36`
    const hints = { brands: '"Brave";v="140"' }
    const separators = ['', '\n', '\n\n', ';', `;${hints.brands.length}:`, `${hints.brands.length}:`]
    for (const separator of separators) readUserAgent(agent + separator + hints.brands, null)
    expect(lineOf(agent, hints)).toEqual(['Brave', '140', 'Android', 'phone'])
    readUserAgent(agent, { brands: '', mobile: '"Brave";v="141"' })
    readUserAgent(agent, { brands: [{ brand: 'Brave' }, { brand: 'Chromium', version: '141' }] })
    readUserAgent(agent, { brands: [{ brand: 'Bravenull[8:Chromium141' }] })
    expect(lineOf(agent, { brands: '"Brave";v="141"' })).toEqual(['Brave', '141', 'Android', 'phone'])
    expect(lineOf(agent, { brands: [{ brand: 'Brave', version: '142' }] })).toEqual([
      'Brave',
      '142',
      'Android',
      'phone',
    ])
  })

  test('long agents are read from their start, and not stored', () => {
    const long = `${IPHONE} Version/17.5 Mobile/15E148 Safari/604.1`.padEnd(2000)
    const first = readUserAgent(long, null)
    expect(first).toEqual({ browser: 'Safari', browserVersion: '17', os: 'iOS', device: 'phone' })
    expect(readUserAgent(long, null)).not.toBe(first)
    expect(readUserAgent(long.trim(), null)).toBe(readUserAgent(long.trim(), null))
  })
})
