import { describe, expect, test } from 'bun:test'
import { HOUR_MS } from '../../core/clock.ts'
import type { WeeklyReport } from '../../insights/weekly-report.ts'
import { WEEK_MS } from '../../insights/weekly-report.ts'
import { renderMailText } from '../../mail/render-mail-text.ts'
import { buildDigest } from '../build-digest.ts'
import { aDay, aQuietDay } from '../digest.fixture.ts'

const from = Date.UTC(2025, 11, 29)
const score = { score: 90, detail: '' }
const scoresOf = (overall: number) => ({ overall, availability: score, accuracy: score, compliance: score })

function aWeek(values: Partial<WeeklyReport> = {}): WeeklyReport {
  const worst = {
    id: 'iss_9',
    alertId: 'alr_1',
    status: 'open',
    severity: 'critical',
    title: 'Purchases are lost on Shop',
    alertType: 'volume_anomaly',
    occurrences: 3,
    capReached: false,
    notificationsSent: 1,
    impactValue: 900,
    notes: null,
    trackerKey: null,
    firstSeenAt: from,
    lastSeenAt: from,
  } as WeeklyReport['worst'][number]
  return {
    week: '2026-W01',
    from,
    to: from + WEEK_MS,
    changes: [],
    scores: { now: scoresOf(84), before: scoresOf(91) },
    issues: { opened: 3, resolved: 2, open: 1, medianResolveMs: 2.5 * HOUR_MS },
    value: { resolved: 5000, open: 900 },
    volume: { events: 48_210, before: 60_000, series: [] },
    worst: Array.from({ length: 5 }, (_, n) => ({ ...worst, id: `iss_${n}` })),
    signals: { watched: 24, silent: 1, learning: 2 },
    ...values,
  }
}

const options = { context: '', publicUrl: 'https://watch.example', unsubscribeUrl: null, because: '' }
const sectionIn = (facts: Parameters<typeof buildDigest>[0]) =>
  buildDigest(facts, options).sections.find(({ title }) => title === 'Last week')

describe('the section about last week', () => {
  test('says who is affected by an issue', () => {
    const sentence = '98 % of violations come from Safari 18 on iOS; elsewhere 0.3 % of events violate.'
    const [, items] = sectionIn(aDay({ week: aWeek(), affected: new Map([['iss_1', sentence]]) }))?.blocks ?? []
    const lines = items && 'items' in items ? items.items.map(({ lines }) => lines.map(({ text }) => text)) : []
    expect(lines).toEqual([[], [sentence], [], []])
  })

  test('contains figures, the worst issues and a link to the report', () => {
    const [figures, items] = sectionIn(aDay({ week: aWeek() }))?.blocks ?? []
    expect(figures).toMatchObject({
      figures: [
        { label: 'Issues opened', value: '3', note: '2 resolved, 1 open at the end of the week' },
        { label: 'Time to resolve', value: '2.5 h' },
        { label: 'Value resolved', value: '5,000', note: '900 still open' },
        { label: 'Score', value: '84', note: '91 in the week before' },
        { label: 'Events', value: '48,210', note: '−20 % compared with the week before' },
      ],
    })
    expect(items).toMatchObject({
      items: [
        ...[0, 1, 2].map((n) => ({
          title: 'Purchases are lost on Shop',
          url: `https://watch.example/issues/iss_${n}`,
        })),
        { url: 'https://watch.example/report?week=2026-W01', note: '24 signals monitored, 1 silent, 2 learning' },
      ],
    })
  })

  test('shows the currency of values', () => {
    const digest = buildDigest(aDay({ week: aWeek(), currency: 'EUR' }), options)
    for (const text of ['5,000 EUR', '900 EUR still open', '12,300 EUR', 'value 12,000 EUR']) {
      expect(renderMailText(digest)).toContain(text)
    }
  })

  test('is omitted on other days and in weeks without activity', () => {
    const issues = { opened: 0, resolved: 0, open: 0, medianResolveMs: null }
    const nothing = aWeek({ issues, volume: { events: 0, before: null, series: [] }, worst: [] })
    for (const week of [null, nothing]) expect(sectionIn(aDay({ week }))).toBeUndefined()
  })

  test('is included in the digest of a quiet day', () => {
    const digest = buildDigest(aQuietDay({ week: aWeek() }), options)
    expect(digest.sections).toHaveLength(1)
    expect(digest.subject).toContain('a quiet day')
    expect(renderMailText(digest)).toContain('/report?week=2026-W01')
  })

  test('omits unknown figures', () => {
    const issues = { opened: 1, resolved: 0, open: 1, medianResolveMs: null }
    const week = aWeek({ issues, scores: { now: null, before: null }, value: { resolved: 0, open: 0 } })
    const [figures] = sectionIn(aDay({ week }))?.blocks ?? []
    const labels = figures?.kind === 'figures' ? figures.figures.map(({ label }) => label) : []
    expect(labels).toEqual(['Issues opened', 'Events'])
  })
})
