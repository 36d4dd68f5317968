import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TEST_START } from '../../test/fixtures.ts'
import { DAY_MS } from '../core/clock.ts'
import {
  DomainDetailSchema,
  DomainInputSchema,
  type DomainRecord,
  describeDomain,
  domainStatus,
  normalizeHostname,
} from './domain.ts'

test.each([
  ['allowManualMonitoring', DomainInputSchema],
  ['screenshotBase64', DomainInputSchema],
  ['allowManualMonitoring', DomainDetailSchema],
  ['screenshotBase64', DomainDetailSchema],
] as const)('the field %s is documented as having no effect', (field, schema) => {
  expect(JSON.stringify(schema.properties[field])).toContain('Has no effect')
})

const now = TEST_START
const viewpoint = { collectUrl: 'https://collect.example:8443', publicUrl: 'https://tags.example' }

test.each([
  [null, 'waiting'],
  [now, 'active'],
  [now - DAY_MS + 1, 'active'],
  [now - DAY_MS, 'silent'],
  [0, 'silent'],
  // The server's clock has been set back.
  [now + 1, 'active'],
] as const)('a domain with its last event at %p is %s', (lastEventAt, status) => {
  expect(domainStatus(lastEventAt, now)).toBe(status)
})

describe('describeDomain', () => {
  const record: DomainRecord = {
    id: 'dom_1',
    orgId: 'org_1',
    projectId: null,
    name: 'Shop',
    system: 'global',
    token: 'pt_1',
    monitoredUrls: ['https://shop.example/'],
    vendors: [{ vendorName: 'a' }, { vendorName: 'b', urlPatternMatches: ['/b'] }, { vendorName: 'a' }],
    allowManualMonitoring: false,
    screenshotBase64: null,
    lastEventAt: null,
    prodVersion: 1.5,
    createdAt: now,
    events24h: 3,
    routingMode: 'default',
    collectHostname: null,
    collectStatus: 'pending',
    legacyScriptAt: null,
    vendorsSeen: ['b', 'c'],
  }

  test('returns every field of the API', () => {
    expect(describeDomain(record, { now, ...viewpoint, showToken: true })).toEqual({
      id: 'dom_1',
      orgId: 'org_1',
      name: 'Shop',
      token: 'pt_1',
      system: 'global',
      status: 'waiting',
      monitoredUrls: ['https://shop.example/'],
      vendorCount: 3,
      createdAt: now,
      projectId: null,
      collect: null,
      routing: {
        mode: 'default',
        collectEndpoint: 'https://collect.example:8443/api/v1/events',
        cdnHost: 'collect.example:8443',
      },
      legacyScript: false,
      events24h: 3,
      lastEventAt: null,
      prodVersion: 1.5,
    })
  })

  test.each([
    ['default', null, 'https://collect.example:8443', 'collect.example:8443'],
    ['default', 'c.shop.example', 'https://collect.example:8443', 'collect.example:8443'],
    ['custom', 'c.shop.example', 'https://c.shop.example', 'c.shop.example'],
    ['custom', null, 'https://collect.example:8443', 'collect.example:8443'],
    ['legacy', 'c.shop.example', 'https://tags.example', 'tags.example'],
  ] as const)('in mode %s with hostname %p, returns the endpoint %s', (mode, collectHostname, base, cdnHost) => {
    const routed = { ...record, routingMode: mode, collectHostname }
    const { routing, collect } = describeDomain(routed, { now, ...viewpoint, showToken: true })
    expect(routing).toEqual({ mode, collectEndpoint: `${base}/api/v1/events`, cdnHost })
    expect(collect).toEqual(collectHostname === null ? null : { hostname: collectHostname, status: 'pending' })
  })

  test.each([
    ['default', null, false],
    ['default', now - DAY_MS + 1, true],
    ['custom', now, true],
    ['default', now - DAY_MS, false],
    ['legacy', now, false],
  ] as const)(
    'in mode %s with the legacy script last requested at %p, reports use of the legacy script: %p',
    (mode, legacyScriptAt, said) => {
      const described = { ...record, routingMode: mode, legacyScriptAt }
      expect(describeDomain(described, { now, ...viewpoint, showToken: true }).legacyScript).toBe(said)
    },
  )

  test('hides the token', () => {
    expect(describeDomain(record, { now, ...viewpoint, showToken: false }).token).toBe('')
  })
})

describe('normalizeHostname', () => {
  const names: [string, string | null][] = [
    ['shop.example', 'shop.example'],
    ['SHOP.Example', 'shop.example'],
    ['shop.example.', 'shop.example'],
    ['shop.example。', 'shop.example'],
    ['müller.example', 'xn--mller-kva.example'],
    ['MÜLLER.example', 'xn--mller-kva.example'],
    ['xn--mller-kva.example', 'xn--mller-kva.example'],
    ['localhost', 'localhost'],
    ['under_score.example', 'under_score.example'],
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]', '[::1]'],
    ['[0:0:0:0:0:0:0:1]', '[::1]'],
    ['', null],
    ['.', null],
    [' shop.example', null],
    ['shop .example', null],
    ['sh\nop.example', null],
    ['sh\u0000op.example', null],
    ['shop.example:443', null],
    ['::1', null],
    ['[::1]:80', null],
    ['alice@shop.example', null],
    ['shop.example/path', null],
    ['shop.example\\path', null],
    ['shop.example?q', null],
    ['shop.example#f', null],
    ['sh%6Fp.example', null],
    ['https://shop.example', null],
    ['<shop>', null],
    [`${'a.'.repeat(127)}a`, null],
  ]
  test.each(names)('converts %j to %j', (text, name) => {
    expect(normalizeHostname(text)).toBe(name)
  })

  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((ip) => `[${ip}]`),
  )

  test('never throws, and returns a lowercase hostname that is already normalised', () => {
    fc.assert(
      fc.property(text, (any) => {
        const name = normalizeHostname(any)
        if (name === null) return
        expect(normalizeHostname(name)).toBe(name)
        expect(name).toBe(name.toLowerCase())
        expect(name).not.toEndWith('.')
      }),
    )
  })

  test('returns one name for each host of a page, ignoring case and a trailing dot', () => {
    fc.assert(
      fc.property(fc.webUrl(), (page) => {
        const { hostname } = new URL(page)
        expect(normalizeHostname(`${hostname.toUpperCase()}.`)).toBe(hostname)
      }),
    )
  })
})
