import { pagePath } from '../../contract/page-paths.ts'
import { amountText, countText } from '../../core/text.ts'
import type { WeeklyReport } from '../../insights/weekly-report.ts'
import type { Figure, Item } from '../../mail/mail-document.ts'
import { durationText } from '../digest-facts.ts'
import { comparisonText, countOf, eventCount, SEVERITY_TONE } from '../format-figures.ts'
import type { DigestSection } from './section.ts'

/** Number of issues listed. */
export const MAX_WORST = 3

/** Last week's figures, on Mondays. Uses the same data as the weekly report. */
export const weekSection: DigestSection = {
  id: 'week',
  title: 'Last week',
  write({ week, affected, currency }, { publicUrl }) {
    if (!week || !hasSomething(week)) return null
    const items = week.worst.slice(0, MAX_WORST).map(
      ({ id, title, severity, status }): Item => ({
        title,
        badge: { text: `${severity} · ${status}`, tone: status === 'resolved' ? 'good' : SEVERITY_TONE[severity] },
        note: '',
        lines: affected.has(id) ? [{ text: affected.get(id) ?? '', tone: 'plain' }] : [],
        rows: [],
        url: publicUrl + pagePath.issue(id),
      }),
    )
    const report: Item = {
      title: `Weekly report to print or share: ${week.week}`,
      badge: null,
      note: signalsText(week),
      lines: [],
      rows: [],
      url: publicUrl + pagePath.report(week.week),
    }
    return {
      blocks: [
        { kind: 'figures', figures: figuresOf(week, currency) },
        { kind: 'items', items: [...items, report], more: '' },
      ],
      lead: null,
    }
  },
}

const hasSomething = ({ issues, volume }: WeeklyReport) =>
  volume.events + (volume.before ?? 0) + issues.opened + issues.resolved + issues.open > 0

function figuresOf({ issues, value, scores, volume }: WeeklyReport, currency: string | null): Figure[] {
  const { opened, resolved, open, medianResolveMs } = issues
  const broke: Figure = {
    label: 'Issues opened',
    value: countText(opened),
    tone: opened > 0 ? 'warn' : 'good',
    note: `${countText(resolved)} resolved, ${countText(open)} open at the end of the week`,
  }
  const took: Figure[] =
    medianResolveMs === null
      ? []
      : [{ label: 'Time to resolve', value: durationText(medianResolveMs), note: 'median', tone: 'plain' }]
  const worth: Figure[] =
    value.resolved + value.open > 0
      ? [
          {
            label: 'Value resolved',
            value: amountText(value.resolved, currency),
            tone: 'plain',
            note: `${amountText(value.open, currency)} still open`,
          },
        ]
      : []
  const score: Figure[] = scores.now
    ? [
        {
          label: 'Score',
          value: String(scores.now.overall),
          tone: 'plain',
          note: scores.before ? `${scores.before.overall} in the week before` : 'of 100',
        },
      ]
    : []
  const events: Figure = {
    label: 'Events',
    value: eventCount(volume.events),
    tone: 'plain',
    note: comparisonText(volume.events, volume.before, 'the week before'),
  }
  return [broke, ...took, ...worth, ...score, events]
}

function signalsText({ signals: { watched, silent, learning } }: WeeklyReport): string {
  const more = [...(silent > 0 ? [`${silent} silent`] : []), ...(learning > 0 ? [`${learning} learning`] : [])]
  return [`${countOf(watched, 'signal')} monitored`, ...more].join(', ')
}
