import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBody } from './body.ts'
import { type Decoded, decodeHit, decoders } from './index.ts'
import { readQuery } from './params.ts'

/** Real requests of other people, kept beside the project and not in it. */
const DATA = join(import.meta.dir, '../../../shared/data')
const absent = !existsSync(DATA)

interface Request {
  url: string
  method?: string
  /** An object stands for its JSON text. */
  postData?: string | object | null
  postEncoding?: string | null
  contentEncoding?: string | null
}

interface ModernCase extends Request {
  id: string
  expect: { vendor: string; account: string | null; events: string[] }
}

interface OmnibugCase extends Request {
  test: string
  provider: string
  expected: boolean
  asserted: { key: string; value: string }[]
}

/** The vendors under which Omnibug's test cases name them. */
const PROVIDERS: Record<string, string> = {
  GOOGLEANALYTICS4: 'Google Analytics 4',
  FACEBOOKPIXEL: 'Meta Pixel',
  BINGUET: 'Microsoft Advertising UET',
  TIKTOK: 'TikTok Pixel',
  LINKEDINPIXEL: 'LinkedIn Insight',
  MATOMO: 'Matomo',
  SEGMENT: 'Segment',
}

function readCases<T>(name: string): T[] {
  return absent ? [] : JSON.parse(readFileSync(join(DATA, 'golden', name), 'utf8')).cases
}

function decode({ url, method, postData, postEncoding, contentEncoding }: Request): Decoded {
  const sent = typeof postData === 'object' && postData !== null ? JSON.stringify(postData) : postData
  const captured = postEncoding === 'base64' ? { bodyBase64: sent, contentEncoding } : { body: sent }
  const { text, error } = readBody(captured)
  expect(error).toBeNull()
  return decodeHit({ url, method: method ?? (text === null ? 'GET' : 'POST'), body: text })
}

function omnibugCases(file: string): OmnibugCase[] {
  return readCases<OmnibugCase>(file).filter(({ provider }) => Object.hasOwn(PROVIDERS, provider))
}

describe.skipIf(absent)('golden cases', () => {
  test('requests of today', () => {
    const vendors = new Set(decoders.map(({ vendor }) => vendor))
    const cases = readCases<ModernCase>('golden.modern.json').filter((c) => vendors.has(c.expect.vendor))
    const wrong = cases.flatMap((c) => {
      const { vendor, account, events, error } = decode(c)
      const read = { vendor, account, events: events.map(({ event }) => event) }
      return Bun.deepEquals(read, c.expect) ? [] : [{ id: c.id, expected: c.expect, read, error }]
    })
    expect(cases.length).toBeGreaterThan(50)
    expect(wrong.length <= cases.length * 0.03 ? [] : wrong).toEqual([])
  })

  test('whose request it is', () => {
    const cases = omnibugCases('golden.match.json')
    const wrong = cases.filter((c) => {
      const { vendor, events } = decode(c)
      // A negative case may be the vendor's library or side channel; it must not be an event.
      const isMatch = vendor === PROVIDERS[c.provider]
      return c.expected ? !isMatch : isMatch && events.some(({ kind }) => kind === 'event')
    })
    expect(cases.length).toBeGreaterThan(20)
    expect(wrong).toEqual([])
  })

  test('whose it is among all', () => {
    for (const c of omnibugCases('golden.dispatch.json')) {
      expect([c.url, decode(c).vendor]).toEqual([c.url, PROVIDERS[c.provider] ?? ''])
    }
  })

  test('what it says', () => {
    const cases = omnibugCases('golden.decode.json')
    for (const c of cases) {
      const { vendor, events, error } = decode(c)
      expect([c.test, vendor, error]).toEqual([c.test, PROVIDERS[c.provider] ?? '', null])
      const sent = readQuery(new URL(c.url).search)
      // The other asserted keys are of that program's own making.
      for (const { key, value } of c.asserted.filter(({ key }) => key in sent)) {
        expect([c.test, key, events[0]?.params[key]]).toEqual([c.test, key, value])
      }
    }
    expect(cases.length).toBeGreaterThan(10)
  })
})

describe.skipIf(absent)('recordings', () => {
  const files = absent ? ['none there'] : readdirSync(join(DATA, 'har')).filter((name) => name.endsWith('.har'))

  test.each(files)('%s', (file) => {
    const { entries } = JSON.parse(readFileSync(join(DATA, 'har', file), 'utf8')).log
    for (const { request } of entries) {
      const { url, method, postData } = request
      const { error } = decode({ url, method, postData: postData?.text })
      expect([url, error]).toEqual([url, null])
    }
    expect(entries.length).toBeGreaterThan(0)
  })
})
