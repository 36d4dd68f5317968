import { describe, expect, test } from 'bun:test'
import { LOGO_CID_URL } from '../mail/mail-logo.ts'
import { MAX_HTML_BYTES, renderMailHtml } from '../mail/render-mail-html.ts'
import { renderMailText } from '../mail/render-mail-text.ts'
import { buildDigest } from './build-digest.ts'
import { aDay, aDigestIssue, aQuietDay } from './digest.fixture.ts'
import type { DigestFacts } from './digest-facts.ts'

const publicUrl = 'https://watch.example'
const write = (facts: DigestFacts, context = '') =>
  buildDigest(facts, { context, publicUrl, unsubscribeUrl: `${publicUrl}/u?t=abc`, because: 'You get this daily.' })
const titles = (context: string, facts = aDay()) => write(facts, context).sections.map(({ title }) => title)

describe('the sections of a digest', () => {
  test.each([
    ['', ['At a glance', 'Issues', 'Releases and changes', 'Compliance']],
    ['executive', ['Value and scores', 'Problems', 'Order reconciliation']],
    ['marketing', ['Data sent by your tags', 'New events and parameters', 'Order reconciliation']],
    ['developer', ['Issues', 'Releases and changes', 'New events and parameters']],
    ['privacy', ['Personal data and consent', 'At a glance']],
    ['Meta Pixel', ['Your topics', 'At a glance']],
    ['privacy of Meta Pixel', ['Your topics', 'Personal data and consent']],
    // The first audience determines the wording and the first sections. The second determines which sections follow.
    ['developer, privacy', ['Issues', 'Releases and changes', 'New events and parameters', 'Compliance']],
  ])('are ordered for the context %j', (context, first) =>
    expect(titles(context).slice(0, first.length)).toEqual(first),
  )

  test('are complete for every audience, except that executives get no suggestions', () => {
    for (const context of ['', 'marketing', 'developer', 'privacy']) expect(titles(context)).toHaveLength(8)
    expect(titles('executive')).toHaveLength(7)
  })
})

test.each([
  ['Meta Pixel', 'Meta Pixel', 'Google Analytics 4'],
  ['the blog', 'Blog', 'Shop'],
  ['google ads', 'Google Ads', 'Meta Pixel'],
  ['TikTok Pixel, Google Ads', 'TikTok Pixel', 'Google Ads'],
  ['checkout', 'Checkout', 'Blog'],
])('the context %j puts its topic first in the subject, page and plain text', (context, first, then) => {
  const digest = write(aDay(), context)
  expect(digest.subject).toStartWith(`Acme: ${first}`)
  for (const text of [bodyOf(renderMailHtml(digest)), renderMailText(digest)]) {
    expect(text.indexOf(first)).toBeGreaterThan(0)
    expect(text.indexOf(first)).toBeLessThan(text.indexOf(then))
  }
})

const withoutLogo = (html: string) => html.replace(`<img src="${LOGO_CID_URL}"`, '')
const bodyOf = (html: string) => html.slice(html.indexOf('<h1'))

describe('the subject of a digest', () => {
  const calm: Partial<DigestFacts> = {
    changes: [],
    findings: { fresh: [], seen: [] },
    orders: [],
    issues: { opened: [], resolved: [], open: [], openedBefore: 0, resolvedBefore: 0 },
  }
  const traffic = (now: number, before: number): DigestFacts['traffic'] => ({
    names: [{ domainId: 'dom_shop', vendor: 'A', event: 'buy', now, before }],
    fresh: [],
    hours: { now: [], before: null },
  })
  const critical = aDigestIssue({ id: 'iss_9', severity: 'critical', title: 'All is lost' })
  const issues = { ...aDay().issues, opened: [...aDay().issues.opened, critical] }
  test.each<[what: string, facts: Partial<DigestFacts>, context: string, subject: RegExp]>([
    ['a new issue', {}, '', /^Acme: New high issue: Purchases have .* \(and 1 more new issue\)$/],
    ['the most severe issue', { issues }, '', /^Acme: New critical issue: All is lost \(and 2 more/],
    ['a domain without events', { ...calm, traffic: traffic(0, 900) }, '', /^Acme: No events from Shop in 24 hours$/],
    [
      'a release',
      { ...calm, changes: aDay().changes },
      '',
      /^Acme: Checkout: new summary page caused a regression on Shop: /,
    ],
    ['personal data', { ...calm, findings: aDay().findings }, '', /^Acme: New personal data: email in ep.user/],
    ['orders', { ...calm, orders: aDay().orders }, '', /^Acme: Google Analytics 4 is missing 1,207 of 1,512 orders/],
    ['a decrease', { ...calm, traffic: traffic(400, 900) }, '', /^Acme: A buy fell by 56 % on Shop$/],
    ['an increase', { ...calm, traffic: traffic(900, 400) }, '', /^Acme: A buy rose by 125 % on Shop$/],
    [
      'nothing',
      { ...calm, traffic: traffic(900, 901), newParameters: [] },
      '',
      /^Acme: 900 events, ±0 % compared with 901/,
    ],
    ['a new issue of a named topic', {}, 'google ads, purchase', /^Acme: purchase: new high issue, Purchases have/],
    [
      'a change of a named topic',
      {},
      'Meta Pixel, Criteo OneTag',
      /^Acme: Criteo OneTag: 1,210 events, none a week earlier$/,
    ],
    [
      'a named topic without a change',
      {},
      'Meta Pixel',
      /^Acme: Meta Pixel: 41,350 events, −0.7 % compared with a week earlier$/,
    ],
    [
      'a named topic without events',
      { ...calm, traffic: traffic(0, 0) },
      'Blog',
      /^Acme: Blog: no events in 24 hours$/,
    ],
    ['for the privacy audience', {}, 'privacy', /^Acme: New personal data/],
    ['for the marketing audience', {}, 'marketing', /^Acme: TikTok Pixel ViewContent stopped on Shop$/],
  ])('contains the most important fact: %s', (_, facts, context, subject) =>
    expect(write(aDay(facts), context).subject).toMatch(subject),
  )
})

test("developers get a sample of each issue, but other audiences don't", () => {
  expect(renderMailHtml(write(aDay(), 'developer'))).toContain('ep.transaction_id</td>')
  expect(renderMailHtml(write(aDay(), 'marketing'))).not.toContain('ep.transaction_id</td>')
})

test('a quiet day is summarized in one line', () => {
  const open = [aDigestIssue()]
  const facts = aQuietDay({ issues: { ...aQuietDay().issues, open } })
  const digest = write(facts, 'developer, Shop')
  expect(digest).toMatchObject({
    subject: 'Acme: a quiet day: no events, issues or changes in 24 hours',
    sections: [],
    others: ['The last event was received on 6 Jan 2026, 07:59 CET.', '1 older issue still open.'],
  })
  expect(renderMailText(digest)).toContain('A quiet day')
})

test('external text is escaped in HTML, plain text and subject', () => {
  const evil = `<img src=x onerror=alert(1)> "'&</style><script>`
  const facts = aDay({
    orgName: evil,
    issues: { ...aDay().issues, opened: [aDigestIssue({ title: evil, summary: evil, sample: [[evil, evil]] })] },
    changes: aDay().changes.map((change) => ({ ...change, title: evil })),
  })
  const html = renderMailHtml(write(facts, 'developer'))
  expect(withoutLogo(html)).not.toMatch(/<img|<script|onerror=alert\(1\)>/)
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt; &quot;&#x27;&amp;')
  expect(renderMailText(write(facts, 'developer'))).toContain(evil)
})

test('the page loads no external resources and is smaller than 100 kB', () => {
  const long = (n: number) => `${n} ${'<long & name>'.repeat(15)}`.slice(0, 200)
  const issue = (n: number) =>
    aDigestIssue({
      id: `iss_${n}`,
      title: long(n),
      summary: long(n),
      sample: Array.from({ length: 12 }, (_, at): [string, string] => [long(at), long(at)]),
    })
  const issues = Array.from({ length: 500 }, (_, n) => issue(n))
  const names = Array.from({ length: 5000 }, (_, n) => ({
    domainId: 'dom_shop',
    vendor: long(n),
    event: long(n),
    now: n,
    before: 5000 - n,
  }))
  const facts = aDay({
    issues: { ...aDay().issues, opened: issues, open: issues, resolved: issues },
    traffic: { ...aDay().traffic, names, fresh: names },
    newParameters: names.map((name) => ({ ...name, key: long(1), events: 3 })),
    suggestions: issues.map(({ title }) => ({ domainId: null, vendor: null, event: null, name: title, reason: title })),
  })
  for (const context of ['', 'developer', 'marketing']) {
    const html = renderMailHtml(write(facts, context))
    expect(Buffer.byteLength(html)).toBeLessThan(MAX_HTML_BYTES)
    expect(withoutLogo(html)).not.toMatch(/<(?:img|link|script|iframe)|@import|url\(/i)
  }
})

test('the plain text contains everything on the page', () => {
  const text = renderMailText(write(aDay(), 'developer'))
  for (const part of ['1,204 events', 'ep.transaction_id', 'Regressed', '+', 'https://watch.example/issues/iss_1']) {
    expect(text).toContain(part)
  }
  expect(text.split('\n').filter((line) => line.length > 78 && !line.includes('https://'))).toEqual([])
})
