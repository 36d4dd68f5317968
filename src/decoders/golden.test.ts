import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Decoded, decodeHit } from './index.ts'
import { unfolded } from './json.ts'
import { flattenParams, readForm, readQuery } from './params.ts'
import { readBody } from './request-body.ts'

/** Real requests from other projects, stored in a separate folder next to this project. */
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

/** Our names of the vendors, by provider name in Omnibug’s test cases. */
const PROVIDERS: Record<string, string> = {
  GOOGLEANALYTICS4: 'Google Analytics 4',
  FACEBOOKPIXEL: 'Meta Pixel',
  BINGUET: 'Microsoft Advertising UET',
  TIKTOK: 'TikTok Pixel',
  LINKEDINPIXEL: 'LinkedIn Insight',
  MATOMO: 'Matomo',
  SEGMENT: 'Segment',
  PARSELY: 'Parse.ly',
  PIWIKPRO: 'Piwik PRO',
  PIWIKPROTMS: 'Piwik PRO Tag Manager',
  ENSIGHTENMANAGE: 'Ensighten Manage',
  SPLITIO: 'Split.io',
  TEALIUMIQ: 'Tealium iQ',
  TEALIUMEVENTSTREAM: 'Tealium EventStream',
  WEBTRENDSONDEMAND: 'Webtrends OnDemand',
  ATINTERNET: 'AT Internet',
  RUDDERSTACK: 'RudderStack',
  COMSCORE: 'Comscore',
  MPARTICLE: 'mParticle',
  LYTICS: 'Lytics',
  UNIVERSALANALYTICS: 'Google Universal Analytics',
  GOOGLEADS: 'Google Ads',
  DOUBLECLICK: 'Google Floodlight',
  GOOGLETAGMAN: 'Google Tag Manager',
  MSCLARITY: 'Microsoft Clarity',
  SNAPCHATPIXEL: 'Snapchat Pixel',
  PINTERESTPIXEL: 'Pinterest Tag',
  TWITTERPIXEL: 'X Pixel',
  REDDITPIXEL: 'Reddit Pixel',
  ADOBEANALYTICS: 'Adobe Analytics',
  ADOBETARGET: 'Adobe Target',
  ADOBEAUDIENCEMANAGER: 'Adobe Audience Manager',
  ADOBEEXPERIENCEID: 'Adobe Experience Cloud ID',
  ADOBEHEARTBEAT: 'Adobe Media Analytics',
  ADOBELAUNCH: 'Adobe Launch',
  ADOBEDTM: 'Adobe Dynamic Tag Management',
  CRITEOONETAG: 'Criteo OneTag',
  RTBHOUSE: 'RTB House',
  TEADS: 'Teads Universal Pixel',
  SEZNAMSKLIK: 'Seznam Sklik',
  INVOCA: 'Invoca',
  SIXSENSE: '6sense',
  OPTIMIZELYX: 'Optimizely',
  DEMANDBASEENGAGEMENT: 'Demandbase',
  HOTJAR: 'Hotjar',
  FULLSTORY: 'FullStory',
  GLASSBOX: 'Glassbox',
  MEDALLIADXA: 'Medallia',
  CRAZYEGG: 'Crazy Egg',
  DYNAMICYIELD: 'Dynamic Yield',
  OMNICONVERT: 'Omniconvert',
  HUBSPOT: 'HubSpot',
  BREVO: 'Brevo',
  BRAZE: 'Braze',
  ADFORM: 'Adform',
  ADOBELAUNCH_CN: 'Adobe Launch',
  ADOBEWEBSDK: 'Adobe Experience Platform Web SDK',
  AMAZONADTAG: 'Amazon Ads',
  AMPLITUDE: 'Amplitude',
  ENSIGHTENSST: 'Ensighten Server Side',
  INDICATIVE: 'Indicative',
  MERKLEMERKURY: 'Merkle Merkury',
  MIXPANEL: 'Mixpanel',
  OUTBRAIN: 'Outbrain Pixel',
  SOJERN: 'Sojern Pixel',
  SPOTIFYPIXEL: 'Spotify Ad Analytics',
  TDDUNIVERSAL: 'The Trade Desk',
  VIBES: 'Vibes',
  ZEMANTA: 'Zemanta Pixel',
}

/** Providers that exist only in Omnibug’s own tests. */
const COINED = /^OMNIBUG-TEST-PROVIDER/

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

/** Returns every key in the query and the body in Omnibug's notation, with lists as `events[0].type`. */
function sentOf({ url, postData }: Request): Record<string, unknown> {
  const body = typeof postData === 'string' ? unfolded(postData) : postData
  const fields = typeof body === 'string' ? readForm(body) : flattenParams(body ?? {}).params
  const inBrackets = Object.entries(fields).map(([key, value]) => [key.replace(/\.(\d+)(?=\.|$)/g, '[$1]'), value])
  return { ...readQuery(new URL(url).search), ...Object.fromEntries(inBrackets) }
}

function omnibugCases(file: string): OmnibugCase[] {
  return readCases<OmnibugCase>(file).filter((c) => !COINED.test(c.provider))
}

describe.skipIf(absent)('decoding of golden cases', () => {
  test('returns the expected events for current requests', () => {
    const cases = readCases<ModernCase>('golden.modern.json')
    const wrong = cases.flatMap((c) => {
      const { vendor, account, events, error } = decode(c)
      // These cases use Snowplow's event codes instead of names.
      const names = events.map(({ event, params }) => (vendor === 'Snowplow' ? params.e : event))
      const read = { vendor, account, events: names }
      return Bun.deepEquals(read, c.expect) ? [] : [{ id: c.id, expected: c.expect, read, error }]
    })
    expect(cases.length).toBeGreaterThan(100)
    expect(wrong).toEqual([])
  })

  test('detects the vendor of a request', () => {
    const cases = omnibugCases('golden.match.json')
    const wrong = cases.filter((c) => {
      const { vendor, events } = decode(c)
      // In a negative case, the request may load the vendor's library or use a side channel, but must not contain an
      // event.
      const isMatch = vendor === PROVIDERS[c.provider]
      return c.expected ? !isMatch : isMatch && events.some(({ kind }) => kind === 'event')
    })
    expect(cases.map(({ provider }) => provider).filter((provider) => !Object.hasOwn(PROVIDERS, provider))).toEqual([])
    expect(cases.length).toBeGreaterThan(100)
    expect(wrong).toEqual([])
  })

  test('selects the vendor among all decoders', () => {
    for (const c of omnibugCases('golden.dispatch.json')) {
      expect([c.url, decode(c).vendor]).toEqual([c.url, PROVIDERS[c.provider] ?? ''])
    }
  })

  test('returns the parameters of a request', () => {
    const cases = omnibugCases('golden.decode.json')
    for (const c of cases) {
      const { vendor, events, error } = decode(c)
      expect([c.test, vendor, error]).toEqual([c.test, PROVIDERS[c.provider] ?? '', null])
      const sent = sentOf(c)
      // Omnibug derives the other asserted keys, and adds explanations in brackets after codes.
      const isSent = ({ key, value }: { key: string; value: string }) =>
        key in sent && !value.startsWith(`${sent[key]} (`)
      for (const { key, value } of c.asserted.filter(isSent)) {
        // Keys of an event in a batch have no prefix here.
        const own = key.replace(/^\w+\[0]\./, '')
        expect([c.test, key, events[0]?.params[own]]).toEqual([c.test, key, value])
      }
    }
    expect(cases.length).toBeGreaterThan(10)
  })
})

describe.skipIf(absent)('HAR recordings', () => {
  const files = absent
    ? ['no recordings available']
    : readdirSync(join(DATA, 'har')).filter((name) => name.endsWith('.har'))

  test.each(files)('%s is decoded without errors', (file) => {
    const { entries } = JSON.parse(readFileSync(join(DATA, 'har', file), 'utf8')).log
    for (const { request } of entries) {
      const { url, method, postData } = request
      const { error } = decode({ url, method, postData: postData?.text })
      expect([url, error]).toEqual([url, null])
    }
    expect(entries.length).toBeGreaterThan(0)
  })
})
