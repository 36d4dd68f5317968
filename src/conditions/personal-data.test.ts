import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { NO_SEGMENTS } from '../core/event.ts'
import type { ConditionEvent } from './condition.ts'
import { containsEmail, findEmails } from './find-email-addresses.ts'
import { containsPhone, findPhones, phoneRegions } from './find-phone-numbers.ts'
import { compileMask, maskPersonal } from './mask-personal-data.ts'
import { decodings, percentDecode } from './percent-encoding.ts'
import { personalIn } from './personal-data.ts'
import { PLAIN_PRIVACY } from './privacy-settings.ts'

const DATA = join(import.meta.dir, '../../../shared/data/pii')
const absent = !existsSync(DATA)
const read = <T>(name: string): T[] => JSON.parse(readFileSync(join(DATA, name), 'utf8')).cases
const cut = (text: string) => (span: { start: number; end: number }) => text.slice(span.start, span.end)

test.each([
  ['a%40b', ['a%40b', 'a@b']],
  ['a%2540b', ['a%2540b', 'a%40b', 'a@b']],
  ['a%252540b', ['a%252540b', 'a%2540b', 'a%40b']],
  ['plain', ['plain']],
  ['100%', ['100%']],
  ['%zz%4%', ['%zz%4%']],
  ['%C3%A9%41', ['%C3%A9%41', '%C3%A9A']],
  ['%80%99%41', ['%80%99%41', '%80%99A']],
  ['%%41', ['%%41', '%A']],
])('%p is decoded to %j', (text, forms) => {
  expect(decodings(text)).toEqual(forms)
})

const base64 = (text: string) => Buffer.from(text).toString('base64')

test.each([
  base64('jane.doe@company.example'),
  base64('jo@a.de').replaceAll('=', ''),
  `https://shop.example/r?e=${base64('jo@a.de')}&x=1`,
  `https://shop.example/u/${base64('jane.doe@company.example')}/orders`,
  `id_${base64('jane.doe@company.example')}`,
  encodeURIComponent(base64('jane@company.example')),
  base64(JSON.stringify({ name: 'Jürgen', mail: 'jane@company.example', at: '2026-01-01?' })),
  Buffer.from('why? >>> jane@company.example ~~~').toString('base64url'),
  'jane\\u0040company.example',
  'jane\\u002Edoe\\u0040company\\u002eexample',
  '{"x":"{\\"mail\\":\\"jane\\\\u0040company.example\\"}"}',
  'https://shop.example/?next=https%3A%2F%2Fkey%40o1.example%2F&mail=jane@company.example',
  'write to git@company.example: thanks',
  'https://shop.example/@shop?mail=jane@company.example',
  'acct of jane@company.example',
  'https://shop.example,jane@company.example',
])('an e-mail address is found in %p and masked', (text) => {
  expect(containsEmail(text)).toBe(true)
  const shown = maskPersonal(text)
  expect(shown).toMatch(/[a-z]\*\*\*@[a-z]\*\*\*/)
  expect([containsEmail(shown), maskPersonal(shown)]).toEqual([false, shown])
})

test.each([
  'https://0123456789abcdef@o12345.ingest.sentry.io/4501',
  'https://user:pass@host.example/path',
  'https%3A%2F%2Fkey%40o1.example%2F4501',
  'postgres://reader@db.example:5432/shop',
  '{"dsn":"https:\\/\\/key@o1.example\\/7"}',
  'git@github.com:acme/repo.git',
  'remote=org-7@github.com:acme/repo.git',
  'ssh://git@github.com/acme/repo.git',
  '@shop@mastodon.example',
  'https://mastodon.example/@shop@other.example',
  'follow "@shop@mastodon.example"',
  'acct:shop@mastodon.example',
  base64('@shop@mastodon.example is a handle'),
  base64('nobody is here at all, is there? no.body'),
  Buffer.from('jane@company.example\0\x01').toString('base64'),
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
])('no e-mail address is found in %p', (text) => {
  expect([containsEmail(text), maskPersonal(text)]).toEqual([false, text])
})

test('random identifiers are not mistaken for e-mail addresses', () => {
  const bytes = fc.uint8Array({ minLength: 6, maxLength: 60 })
  fc.assert(
    fc.property(bytes, (all) => {
      const text = Buffer.from(all)
      return !containsEmail(text.toString('base64')) && !containsEmail(text.toString('base64url'))
    }),
    { numRuns: 5000 },
  )
})

test('base64 is searched in linear time', () => {
  const startedAt = performance.now()
  for (const part of ['Q', 'QDLk', 'EA5', '/QDLk', '_', 'a@', '://', '@a', ' git@a.b'])
    containsEmail(part.repeat(100_000 / part.length))
  // A search in quadratic time would take minutes here.
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})

test('percent-decoding reverses percent-encoding', () => {
  const ascii = fc.string({ unit: 'grapheme-ascii' })
  fc.assert(fc.property(ascii, (text) => text.includes('\\u') || percentDecode(encodeURIComponent(text)) === text))
})

test.each([
  ['mail jo@a.co, or Al.B+c@x-y.example.org.', ['jo@a.co', 'Al.B+c@x-y.example.org']],
  ['a@b.co@c.de', ['a@b.co']],
  ['<jo@a.co>', ['jo@a.co']],
  ['email=jo@a.co&x=1', ['jo@a.co']],
  ['icon@2x.png jo@a.co', ['jo@a.co']],
  ['a@b.co1', []],
  ['jo@a..co', []],
  [`jo@${'a'.repeat(64)}.co`, []],
  [`${'@'.repeat(2000)}${'a.'.repeat(2000)}`, []],
])('findEmails returns the e-mail addresses in %p', (text, found) => {
  expect(findEmails(text).map(cut(text))).toEqual(found)
})

test.each([
  ['k', '+1 506 234 5678', [], ['+1 506 234 5678']],
  ['k', 'call +1 506 234 5678 2024 or +49.30.1234567', [], ['+1 506 234 5678', '+49.30.1234567']],
  ['k', 'tel:+15062345678;ext=1', [], ['+15062345678']],
  ['k', '0015062345678', [], ['0015062345678']],
  ['k', 'order 0015062345678', [], []],
  ['k', 'fax 001-506-234-5678 x', [], ['001-506-234-5678']],
  ['k', '+46 (0)8 928 571 38', [], ['+46 (0)8 928 571 38']],
  ['k', '+15062345678abc', [], []],
  ['cid', '+15062345678', [], []],
  ['user._GID', '+15062345678', [], []],
  ['k', '15062345678', [], []],
  ['user.phone_number', '15062345678', [], ['15062345678']],
  ['ph', '5062345678', ['CA'], ['5062345678']],
  ['k', '5062345678', ['CA'], []],
  ['k', 'at (506) 234-5678.', ['DE', 'CA'], ['(506) 234-5678']],
  ['k', '2024-11-20', ['NO', 'DK'], []],
  ['k', '20.11.2024 07', ['NO', 'DK'], []],
  ['k', '10.20.30.40', ['DK'], []],
  ['k', '22334455.66', ['DK'], []],
  ['k', '191425359.1527202446', ['US'], []],
  ['k', `${'1-'.repeat(2000)}x`, ['US'], []],
] as const)('findPhones searches key %p with value %p in regions %j', (key, text, regions, found) => {
  expect(findPhones(key, text, regions).map(cut(text))).toEqual([...found])
})

test('unknown phone regions are ignored', () => {
  expect(phoneRegions(['de', 'US', '??', ''])).toEqual(['DE', 'US'])
})

const LABELS: Readonly<Record<string, string>> = { card: 'CREDIT_CARD', iban: 'IBAN_CODE' }

describe('detection in real-world data', () => {
  test.skipIf(absent)('finds every e-mail address at its position', () => {
    for (const { text, spans } of read<{ text: string; spans: number[][] }>('presidio.email.json')) {
      expect({ text, spans: findEmails(text).map(({ start, end }) => [start, end]) }).toEqual({ text, spans })
    }
    for (const { text, email } of read<{ text: string; email: string[] }>('synth_v2.json')) {
      expect(findEmails(text).map(cut(text))).toEqual(email)
    }
  })

  type Phone = Record<'e164' | 'intl' | 'rfc3966' | 'national' | 'country' | 'digits', string>
  test.skipIf(absent)('finds at least 95 % of the phone numbers in every format', () => {
    const phones = read<Phone>('phone_positives.json')
    const share = (holds: (phone: Phone) => boolean) => phones.filter(holds).length / phones.length
    for (const form of ['e164', 'intl', 'rfc3966'] as const) {
      expect(share((phone) => containsPhone('value', phone[form], []))).toBeGreaterThanOrEqual(0.95)
      expect(
        share((phone) => containsPhone('v', encodeURIComponent(encodeURIComponent(phone[form])), [])),
      ).toBeGreaterThanOrEqual(0.95)
      expect(share((phone) => containsPhone('v', phone[form].replace(/^(tel:)?\+/, '00'), []))).toBeGreaterThanOrEqual(
        0.95,
      )
    }
    expect(
      share((phone) => containsPhone('value', phone.national, phoneRegions([phone.country]))),
    ).toBeGreaterThanOrEqual(0.95)
    expect(share((phone) => containsPhone('phone', phone.digits, []))).toBeGreaterThanOrEqual(0.95)
  })

  test.skipIf(absent)('treats at most 1 % of analytics values as phone numbers', () => {
    const values = read<{ key: string; value: string }>('analytics_negatives.json')
    const regions = phoneRegions(['US', 'GB', 'DE', 'FR', 'IL', 'IN', 'CA', 'BR'])
    const wrong = values.filter(
      ({ key, value }) => containsPhone(key, value, regions) || containsPhone('value', value, regions),
    )
    expect(wrong.length / values.length).toBeLessThanOrEqual(0.01)
    // The only value with an e-mail address is `m=%5Btest%2540test.com%5D`.
    expect(values.filter(({ value }) => containsEmail(value)).length).toBe(1)
  })

  test.skipIf(absent)('finds all cards and IBANs, and nothing else', () => {
    const texts = read<{ text: string; types: string[] }>('synth_v2.json')
    const found = texts.map(({ text }) => ({
      text,
      types: personalIn('text', text, PLAIN_PRIVACY).flatMap(({ kind, isReal }) =>
        isReal ? (LABELS[kind] ?? []) : [],
      ),
    }))
    const labelled = texts.map(({ text, types }) => ({
      text,
      types: ['CREDIT_CARD', 'IBAN_CODE'].filter((type) => types.includes(type)),
    }))
    expect(found).toEqual(labelled)
    expect(labelled.filter(({ types }) => types.length > 0).length).toBeGreaterThan(150)
    const values = read<{ key: string; value: string }>('analytics_negatives.json')
    const wrong = values
      .flatMap(({ key, value }) => personalIn(key, value, PLAIN_PRIVACY))
      .filter(({ isReal }) => isReal)
    expect(wrong).toEqual([{ kind: 'email', isReal: true }])
  })

  test.skipIf(absent)('finds phone numbers in at most 1 % of texts without any', () => {
    const texts = read<{ text: string; phone: string[] }>('synth_v2.json').filter(({ phone }) => phone.length === 0)
    expect(texts.filter(({ text }) => containsPhone('text', text, [])).length / texts.length).toBeLessThanOrEqual(0.01)
  })
})

describe('masking', () => {
  test.each([
    ['john@example.com', '', 'j***@e***.com'],
    ['Write to a.b@mail.example.co.uk now', '', 'Write to a***@m***.uk now'],
    ['u=jo%40a.co&p=%2B15062345678', '', 'u=j***@a***.co&p=***78'],
    ['u=jo%2540a.co', '', 'u=j***@a***.co'],
    ['+1 506 234 5678', '', '***78'],
    ['+15062345678', 'cid', '+15062345678'],
    ['a%20b 100%', '', 'a%20b 100%'],
    ['paid with 4111 1111 1111 1111', '', 'paid with ***1111'],
    ['c=4111%20%201111&d=378282246310005', '', 'c=4111%20%201111&d=***0005'],
    ['from DE89 3704 0044 0532 0130 00, thanks', '', 'from DE***00, thanks'],
    ['gb29nwbk60161331926819', 'cid', 'GB***19'],
    ['order 1234567890123456', '', 'order 1234567890123456'],
    ['', '', ''],
  ])('turns %p with key %p into %p', (value, key, shown) => {
    expect(maskPersonal(value, key)).toBe(shown)
  })

  test.each([
    ['EMP-123456', '***'],
    ['staff EMP-123456 and EMP-000001;', 'staff *** and ***;'],
    ['x=EMP%2D123456', 'x=***'],
    ['emp-123456', 'emp-123456'],
    ['EMP-123456 jo@a.co', '*** j***@a***.co'],
  ])('covers matches of a custom pattern in %p: %p', (value, shown) => {
    const privacy = { regions: [], patterns: [{ name: 'employee', pattern: 'EMP-[0-9]{6}' }] }
    expect(maskPersonal(value, '', privacy)).toBe(shown)
    expect(maskPersonal(shown, '', privacy)).toBe(shown)
  })

  test('removes all personal data, and masking a value again changes nothing', () => {
    const piece = fc.constantFrom(
      'jo@a.co',
      'jo%40a.co',
      'x%252540b.de',
      '+15062345678',
      '%2B15062345678',
      '0049 30 1234567',
      '4111111111111111',
      '3782 822463 10005',
      'DE89370400440532013000',
      'NO93 8601 1117 947',
      '%',
      '25',
      ' ',
      '&a=',
      '@',
      '.',
      '%3D',
      'é',
    )
    const value = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(value, (text) => {
        const shown = maskPersonal(text)
        const kinds = personalIn('', shown, PLAIN_PRIVACY).filter(({ isReal }) => isReal)
        expect({ text, kinds }).toEqual({ text, kinds: [] })
        expect(maskPersonal(shown)).toBe(shown)
      }),
      { numRuns: 1000 },
    )
  })

  const event: ConditionEvent & { id: string } = {
    id: 'evt',
    vendor: 'GA4',
    event: 'login jo@a.co',
    account: null,
    host: 'shop.example',
    path: '/u/jo%40a.co/orders',
    title: 'Hello jo@a.co',
    env: 'prod',
    status: 'ok',
    sessionId: 's-1',
    customerId: null,
    execMs: 1,
    durMs: null,
    bytes: null,
    version: 3,
    segments: NO_SEGMENTS,
    params: {
      mail: 'jo@a.co',
      ssn: '460-89-9847',
      other: 'has 460-89-9847 inside',
      plain: 'x',
      ['__proto__']: 'jo@a.co',
    },
  }

  test('is applied to an event without a rule', () => {
    const masked = compileMask([])(event)
    expect(masked).toEqual({
      ...event,
      event: 'login j***@a***.co',
      path: '/u/j***@a***.co/orders',
      segments: { ...event.segments, pageGroup: '/u/:id/orders' },
      title: 'Hello j***@a***.co',
      params: { ...event.params, mail: 'j***@a***.co', ['__proto__']: 'j***@a***.co' },
    })
    expect(Object.keys(masked.params)).toEqual(Object.keys(event.params))
    expect(event.params.mail).toBe('jo@a.co')
  })

  test('is applied to the vendor and parameter names, which senders also control', () => {
    const params: Record<string, string> = { 'to jo@a.co': '1' }
    const masked = compileMask([])({ ...event, vendor: 'jo@a.co', params })
    expect([masked.vendor, masked.params]).toEqual(['j***@a***.co', { 'to j***@a***.co': '1' }])
  })

  test.each([
    ['ssn', { ssn: '***', other: 'has 460-89-9847 inside' }],
    ['*', { ssn: '***', other: '***' }],
    ['plain', { ssn: '460-89-9847', other: 'has 460-89-9847 inside' }],
  ])('is applied to the values of %p when a rule marks them as personal', (parameter, shown) => {
    const pattern = String.raw`\d{3}-\d{2}-\d{4}`
    const masked = compileMask([{ parameter, op: 'custom_pii_regex', values: ['nothing', pattern] }])(event)
    expect(masked.params).toMatchObject({ ...shown, plain: 'x' })
    // An ordinary `regex` condition masks nothing.
    expect(compileMask([{ parameter, op: 'regex', values: [pattern] }])(event).params.ssn).toBe('460-89-9847')
  })

  test('is applied to a field that a rule marks as personal', () => {
    const conditions = [
      { parameter: '$path', op: 'custom_pii_regex' as const, values: ['^/u/'] },
      { parameter: '$version', op: 'custom_pii_regex' as const, values: ['3'] },
    ]
    expect(compileMask(conditions)(event)).toMatchObject({ path: '***', host: 'shop.example', version: 3 })
  })
})
