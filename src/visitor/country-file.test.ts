import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { formatAddress } from '../core/ip-address.ts'
import { openCountryFile } from './country-file.ts'

const root = mkdtempSync(join(tmpdir(), 'tagwarden-countries-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Writes files into a new folder and returns its path. */
function folderOf(files: Record<string, string | Uint8Array>): string {
  const folder = mkdtempSync(join(root, 'case-'))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

/** Writes one file and returns its path. */
const fileOf = (content: string | Uint8Array, name = 'countries.csv') => join(folderOf({ [name]: content }), name)

const BLOCK_COLUMNS =
  'network,geoname_id,registered_country_geoname_id,represented_country_geoname_id,is_anonymous_proxy,is_satellite_provider'
const LOCATION_COLUMNS =
  'geoname_id,locale_code,continent_code,continent_name,country_iso_code,country_name,is_in_european_union'

const blocks = (rows: readonly (readonly [network: string, place: string])[]) =>
  `${[BLOCK_COLUMNS, ...rows.map(([network, place]) => `${network},${place},1,,0,0`)].join('\n')}\n`
const LOCATIONS = `${[
  LOCATION_COLUMNS,
  '1,en,EU,Europe,DE,Germany,1',
  '2,en,NA,"North America",US,"United States",0',
  '3,en,NA,"North America",BQ,"Bonaire, Sint Eustatius, and Saba",0',
  '4,en,EU,Europe,,,0',
].join('\n')}\n`
const MAXMIND = {
  'GeoLite2-Country-Blocks-IPv4.csv': blocks([
    ['5.0.0.0/8', '1'],
    ['6.0.0.0/31', '2'],
    ['6.0.0.2/32', '3'],
    ['6.0.0.3/32', '4'],
    ['6.0.0.4/32', ''],
    ['6.0.0.5/32', '99'],
  ]),
  'GeoLite2-Country-Blocks-IPv6.csv': blocks([
    ['2a00::/16', '1'],
    ['2a01::1/128', '2'],
  ]),
  'GeoLite2-Country-Locations-en.csv': LOCATIONS,
}
const IP2LOCATION = [
  '"0","16777215","-","-"',
  '"83886080","100663295","DE","Germany"',
  '"100663296","100663297","US","United States of America"',
  '"100663298","100663298","BQ","Bonaire, ""Sint Eustatius"" and Saba"',
  '"4294967295","4294967295","-","-"',
].join('\r\n')
const IP2LOCATION_V6 = [
  '"0","281470681743359","-","-"',
  '"281470765629440","281470782406655","DE","Germany"',
  '"281470782406656","281470782406657","US","United States of America"',
  '"281470782406658","281470782406658","BQ","Bonaire"',
  `"${0x2a00n << 112n}","${(0x2a01n << 112n) - 1n}","DE","Germany"`,
  `"${(0x2a01n << 112n) + 1n}","${(0x2a01n << 112n) + 1n}","US","United States of America"`,
  `"${(0x2a01n << 112n) + 2n}","${(1n << 128n) - 1n}","-","-"`,
].join('\n')
const DB_IP = [
  '0.0.0.0,4.255.255.255,ZZ',
  '5.0.0.0,5.255.255.255,DE',
  '6.0.0.0,6.0.0.1,US',
  '6.0.0.2,6.0.0.2,BQ',
  '2a00::,2a00:ffff:ffff:ffff:ffff:ffff:ffff:ffff,DE',
  '2a01::1,2a01::1,US',
].join('\n')

const V4: [string, string | null][] = [
  ['4.255.255.255', null],
  ['5.0.0.0', 'DE'],
  ['5.255.255.255', 'DE'],
  ['6.0.0.0', 'US'],
  ['6.0.0.1', 'US'],
  ['6.0.0.2', 'BQ'],
  ['6.0.0.3', null],
  ['6.0.0.4', null],
  ['6.0.0.5', null],
  ['255.255.255.255', null],
  ['0.0.0.0', null],
  ['::ffff:5.1.2.3', 'DE'],
  ['[::FFFF:0500:1]', 'DE'],
]
const V6: [string, string | null][] = [
  ['2a00::', 'DE'],
  ['2A00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'DE'],
  ['2a01::', null],
  ['2a01::1', 'US'],
  ['2a01::1%eth0', 'US'],
  ['2a01::2', null],
  ['29ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
]

describe('countries are found in', () => {
  const both = [...V4, ...V6]
  const crlf = (text: string) => text.replaceAll('\n', '\r\n')
  test.each<[string, () => string, [string, string | null][]]>([
    ["MaxMind's folder", () => folderOf(MAXMIND), both],
    [
      "MaxMind's folder with a licence, other names and other languages",
      () =>
        folderOf({
          'LICENSE.txt': 'This is no country file.\n',
          'a.csv': MAXMIND['GeoLite2-Country-Blocks-IPv4.csv'],
          'b.csv': LOCATIONS,
          'c.csv': LOCATIONS.replaceAll(',en,', ',de,'),
          'z.csv': MAXMIND['GeoLite2-Country-Blocks-IPv6.csv'],
        }),
      both,
    ],
    [
      "MaxMind's folder with CRLF and byte order marks",
      () => folderOf(Object.fromEntries(Object.entries(MAXMIND).map(([name, text]) => [name, `\uFEFF${crlf(text)}`]))),
      both,
    ],
    [
      "MaxMind's folder, compressed",
      () =>
        folderOf(Object.fromEntries(Object.entries(MAXMIND).map(([name, text]) => [`${name}.gz`, Bun.gzipSync(text)]))),
      both,
    ],
    ["IP2Location's IPv4 file", () => fileOf(IP2LOCATION), V4],
    ["IP2Location's IPv6 file", () => fileOf(IP2LOCATION_V6), both],
    [
      "a folder of IP2Location's files",
      () => folderOf({ 'a.csv': IP2LOCATION_V6, 'b.csv': IP2LOCATION, 'README_LITE.TXT': 'IP2Location LITE' }),
      both,
    ],
    ["DB-IP's file", () => fileOf(DB_IP), both],
    ["DB-IP's file with CRLF and a byte order mark", () => fileOf(`\uFEFF${crlf(DB_IP)}\r\n`), both],
    ["DB-IP's file, compressed", () => fileOf(Bun.gzipSync(DB_IP), 'dbip.csv.gz'), both],
  ])('%s', async (_, path, expected) => {
    const { countryOf } = await openCountryFile(path())
    expect(expected.map(([address]) => [address, countryOf(address)])).toEqual(expected)
  })

  test("MaxMind's city database, by the names of its columns", async () => {
    const folder = folderOf({
      'blocks.csv': 'postal_code,network,latitude,geoname_id\n10115,5.0.0.0/8,52.5,77\n',
      'locations.csv':
        'geoname_id,locale_code,country_iso_code,country_name,city_name\n77,en,DE,Germany,"Berlin, ""Mitte"""\n',
    })
    expect((await openCountryFile(folder)).countryOf('5.6.7.8')).toBe('DE')
  })
})

test('private and malformed addresses have no country', async () => {
  const { countryOf } = await openCountryFile(
    fileOf('0.0.0.0,255.255.255.255,DE\n::,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,US\n'),
  )
  const addresses = [
    '10.0.0.1',
    '100.64.0.0',
    '100.127.255.255',
    '127.0.0.1',
    '169.254.1.1',
    '172.16.0.0',
    '172.31.255.255',
  ]
  const others = ['192.168.255.255', '::ffff:10.1.1.1', '::', '::1', 'fc00::', 'fdff::1', 'fe80::1', 'febf::1']
  const malformed = [
    '',
    'localhost',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    ' 1.2.3.4',
    ':::',
    '1::2::3',
    '5.0.0.0/8',
    '\0',
    'null',
  ]
  for (const address of [...addresses, ...others, ...malformed])
    expect([address, countryOf(address)]).toEqual([address, null])
  const open = [
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.0.0',
  ]
  for (const address of open) expect([address, countryOf(address)]).toEqual([address, 'DE'])
  for (const address of ['::2', 'fbff::', 'fe00::', 'fec0::', '2001:db8::1']) {
    expect([address, countryOf(address)]).toEqual([address, 'US'])
  }
  for (const value of [null, undefined, 7, {}, ['5.0.0.1']]) expect(countryOf(value as string)).toBeNull()
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect([null, 'DE', 'US']).toContain(countryOf(text))
    }),
  )
})

interface Reference {
  first: bigint
  last: bigint
  country: string
}

/** Searches all ranges: the greatest first address, then the smallest range, then the last one applies. */
function naiveCountry(ranges: readonly Reference[], address: bigint): string | null {
  const containing = ranges
    .map((range, index) => ({ ...range, index }))
    .filter(({ first, last }) => first <= address && address <= last)
  const by = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)
  containing.sort((a, b) => by(b.first, a.first) || by(a.last, b.last) || b.index - a.index)
  const country = containing[0]?.country ?? 'ZZ'
  return country === 'ZZ' ? null : country
}

const MAPPED = 0xffff_0000_0000n
const country = fc.constantFrom('DE', 'US', 'FR', 'ZZ')
/** Addresses that are close together, so that ranges touch and overlap. */
const nearby = (family: 4 | 6) =>
  fc.tuple(fc.constantFrom(0n, 1n, 7n), fc.bigInt({ min: 0n, max: 20n })).map(([group, offset]) => {
    const base = family === 4 ? 0x0500_0000n : 0x2a00_0000_0000_0000_ffff_ffff_ffff_fff0n
    return base + (group << (family === 4 ? 8n : 32n)) + offset
  })

describe('the country is the same as in a search of all ranges', () => {
  test.each([4, 6] as const)('for any ranges of IPv%d', async (family) => {
    const text = (value: bigint) => formatAddress({ family, value })
    const range = fc
      .tuple(nearby(family), nearby(family), country)
      .map(([a, b, country]): Reference => (a < b ? { first: a, last: b, country } : { first: b, last: a, country }))
    await fc.assert(
      fc.asyncProperty(
        fc.array(range, { maxLength: 12 }),
        fc.array(nearby(family), { minLength: 20, maxLength: 20 }),
        fc.boolean(),
        async (random, probes, isNumeric) => {
          const ranges = [...random, { first: 0x0100_0000n, last: 0x0100_0001n, country: 'GB' }]
          const rows = ranges.map(({ first, last, country }) =>
            isNumeric ? `"${first}","${last}","${country}","x"` : `${text(first)},${text(last)},${country}`,
          )
          // The range that makes the file valid is IPv4 in both spellings.
          if (!isNumeric) rows[rows.length - 1] = '1.0.0.0,1.0.0.1,GB'
          const { countryOf } = await openCountryFile(fileOf(rows.join('\n')))
          const edges = ranges.flatMap(({ first, last }) => [first - 1n, first, last, last + 1n])
          for (const probe of [...probes, ...edges.slice(0, -4)]) {
            expect([text(probe), countryOf(text(probe))]).toEqual([text(probe), naiveCountry(ranges, probe)])
          }
          if (family === 4) {
            const [probe = 0n] = probes
            const mapped = formatAddress({ family: 6, value: MAPPED + probe })
            expect(countryOf(mapped)).toBe(naiveCountry(ranges, probe))
          }
        },
      ),
      { numRuns: 150 },
    )
  })

  test.each([
    [4, 32],
    [6, 128],
  ] as const)('for IPv%d networks of every length, in any order', async (family, width) => {
    // Public addresses with bits set everywhere.
    const base = family === 4 ? 0x5a5a_5a5an : 0x2a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5an
    const networks = Array.from({ length: width + 1 }, (_, bits): Reference & { text: string; id: number } => {
      const size = 1n << BigInt(width - bits)
      const first = (base / size) * size
      const text = `${formatAddress({ family, value: first })}/${bits}`
      const code = String.fromCharCode(65 + Math.floor(bits / 26), 65 + (bits % 26))
      return { first, last: first + size - 1n, country: code, text, id: bits + 1 }
    })
    const locations = networks.map(({ id, country }) => `${id},${country}`)
    const reverse = networks.toReversed()
    for (const order of [networks, reverse, [...networks.slice(width / 2), ...reverse.slice(width / 2)]]) {
      const rows = order.map(({ text, id }) => `${text},${id}`)
      const { countryOf } = await openCountryFile(
        folderOf({
          'blocks.csv': ['network,geoname_id', ...rows].join('\n'),
          'locations.csv': ['geoname_id,country_iso_code', ...locations].join('\n'),
        }),
      )
      for (const { first, last } of networks) {
        for (const probe of [first - 1n, first, base, last, last + 1n]) {
          if (probe < 0n || probe >> BigInt(width) > 0n) continue
          const address = formatAddress({ family, value: probe })
          // Addresses at the ends of the shortest networks are not public.
          if (/^(?:0:|0\.0|127\.)/.test(address)) continue
          expect([address, countryOf(address)]).toEqual([address, naiveCountry(networks, probe)])
        }
      }
    }
  })
})

test('a large file in reverse order is read without blocking the event loop', async () => {
  const rows = Array.from({ length: 40_000 }, (_, index) => {
    const value = 0x1000_0000 + (39_999 - index) * 16
    return `"${value}","${value + 15}","${index % 2 ? 'DE' : 'US'}","x"`
  })
  const path = fileOf(rows.join('\n'))
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  const { countryOf, ranges } = await openCountryFile(path)
  clearInterval(timer)
  expect(ranges).toBe(40_000)
  expect(turns).toBeGreaterThan(2)
  expect(countryOf('16.0.0.0')).toBe('DE')
  expect(countryOf('16.0.0.31')).toBe('US')
})

test('reading stops when the server stops', async () => {
  const rows = Array.from({ length: 40_000 }, (_, index) => `"${index * 2}","${index * 2}","DE","x"`)
  const stopping = new AbortController()
  const reading = openCountryFile(fileOf(rows.join('\n')), stopping.signal)
  stopping.abort(new Error('the server stops'))
  expect(reading).rejects.toThrow('the server stops')
})

describe('a damaged file is rejected with its line:', () => {
  const V4_BLOCKS = 'GeoLite2-Country-Blocks-IPv4.csv'
  const maxmind = (changes: Record<string, string>) => () => folderOf({ ...MAXMIND, ...changes })
  const withoutLocations = () => folderOf({ [V4_BLOCKS]: MAXMIND[V4_BLOCKS] })
  test.each<[string, () => string, string | RegExp]>([
    ['a missing path', () => join(root, 'nowhere'), /nowhere: does not exist$/],
    ['an empty folder', () => folderOf({}), /: contains no file$/],
    ['an empty file', () => fileOf(''), /countries\.csv: is empty$/],
    ['a device', () => '/dev/null', '/dev/null: is not a file'],
    [
      'another file',
      () => fileOf('<html>\n'),
      /:1: is not the beginning of a country file of MaxMind, IP2Location or DB-IP/,
    ],
    ['a binary file', () => fileOf(Buffer.from([0, 255, 10, 34, 200])), /:1: is not the beginning/],
    ['one long line', () => fileOf('1'.repeat(3_000_000)), /:1: is not the beginning/],
    ['a city database of DB-IP', () => fileOf('5.0.0.0,5.0.0.255,OC,AU,Queensland,Brisbane,1,2\n'), /:1: is not the/],
    [
      'another CSV file in a folder',
      maxmind({ 'asn.csv': 'network,autonomous_system_number\n' }),
      /asn\.csv:1: is not/,
    ],
    [
      'a missing location file',
      withoutLocations,
      /IPv4\.csv: requires a file with the columns geoname_id and country_iso/,
    ],
    ['a single file of blocks', () => join(withoutLocations(), V4_BLOCKS), /in the same folder; specify the folder$/],
    ['only locations', () => fileOf(LOCATIONS), /contains no range of addresses with a country$/],
    [
      'locations of another database',
      maxmind({ 'GeoLite2-Country-Locations-en.csv': `${LOCATION_COLUMNS}\n8,en,EU,Europe,DE,Germany,1\n` }),
      /contains no range of addresses with a country$/,
    ],
    [
      'a cut line of blocks',
      maxmind({ [V4_BLOCKS]: blocks([['5.0.0.0/8', '1']]).slice(0, -6) }),
      /IPv4\.csv:2: must have 6 fields, but has \d$/,
    ],
    [
      'a shifted column',
      maxmind({ [V4_BLOCKS]: `${BLOCK_COLUMNS}\n1,5.0.0.0/8,1,,0,0\n` }),
      /:2: network: must be a network such as 192\.0\.2\.0\/24, not "1"$/,
    ],
    [
      'an invalid network',
      maxmind({ [V4_BLOCKS]: blocks([['5.0.0.0/33', '1']]) }),
      /:2: network: .+not "5\.0\.0\.0\/33"$/,
    ],
    ['a network without a number', maxmind({ [V4_BLOCKS]: blocks([['5.0.0.0/', '1']]) }), /:2: network: /],
    [
      'an invalid id',
      maxmind({ [V4_BLOCKS]: blocks([['5.0.0.0/8', '1e3']]) }),
      /:2: geoname_id: must be a number, not "1e3"$/,
    ],
    ['an id that is too large', maxmind({ [V4_BLOCKS]: blocks([['5.0.0.0/8', '4294967295']]) }), /:2: geoname_id: /],
    [
      'an invalid code of a location',
      maxmind({ 'x.csv': `${LOCATION_COLUMNS}\n\n1,en,EU,Europe,Germany,DE,1\n` }),
      /x\.csv:3: country_iso_code: must be two capital letters, or "-" if unknown, not "Germany"$/,
    ],
    [
      'a cut line of IP2Location',
      () => fileOf(IP2LOCATION.slice(0, -20)),
      /:5: (?:is too long or has an unclosed quotation mark|must have 4 fields, but has \d)$/,
    ],
    [
      'a cut field',
      () => fileOf('"1","2","DE","Germany"\n"3","4","DE","Ger'),
      /:2: is too long or has an unclosed quotation mark$/,
    ],
    [
      'text after a quoted field',
      () => fileOf('"1","2","DE","Germany"\n"3"x,"4","DE","x"'),
      /:2: is too long or has an unclosed/,
    ],
    ['a reversed range', () => fileOf('5.0.0.9,5.0.0.8,DE'), /:1: first address: must not be after the last address$/],
    ['a reversed range of numbers', () => fileOf('"9999999999","7","DE","x"'), /:1: first address: must not be after/],
    ['a number beyond IPv6', () => fileOf(`"1","${1n << 128n}","DE","x"`), /:1: last address: must be below 2\^128$/],
    [
      'mixed IP versions',
      () => fileOf('5.0.0.0,2a00::,DE'),
      /:1: last address: must be of the same IP version as the first$/,
    ],
    [
      'a word for a number',
      () => fileOf('"1","2","DE","x"\n"3","-4","DE","x"'),
      /:2: last address: "-4" is not a number$/,
    ],
    [
      'a word for an address',
      () => fileOf('5.0.0.0,5.0.0.1,DE\nhost,5.0.0.1,DE'),
      /:2: first address: "host" is not an IP address$/,
    ],
    ['a lower-case code', () => fileOf('5.0.0.0,5.0.0.1,de'), /:1: country: must be two capital letters.+not "de"$/],
    ['a cut code', () => fileOf('5.0.0.0,5.0.0.1,DE\n5.0.0.2,5.0.0.3,F'), /:2: country: .+not "F"$/],
    [
      'a long value',
      () => fileOf(`5.0.0.0,5.0.0.1,DE\n5.0.0.2,5.0.0.3,${'X'.repeat(9999)}`),
      /:2: country: .+not "X{50}…"$/,
    ],
    [
      'a cut compressed file',
      () => fileOf(Bun.gzipSync(`${DB_IP}\n`.repeat(50)).slice(0, -30), 'a.csv.gz'),
      /a\.csv\.gz: is cut off$/,
    ],
    [
      'a file that is not compressed',
      () => fileOf(DB_IP, 'a.csv.gz'),
      /a\.csv\.gz: is damaged or not compressed with gzip$/,
    ],
  ])('%s', async (_, path, message) => {
    const error = await openCountryFile(path()).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ name: 'AppError', message: expect.stringMatching(message) })
  })
})
