import type { Figure, Tone } from '../document.ts'
import { sumOf } from '../traffic.ts'
import { eventCount, moveText, moveTone, valueText } from '../words.ts'
import type { DigestSection } from './section.ts'

/** The numbers of the day: value at stake, scores, issues, events. */
export const valueSection: DigestSection = {
  id: 'value',
  title: 'At a glance',
  of: { executive: 'Value and scores' },
  write(facts, { audience }) {
    const { value, scores, issues, traffic } = facts
    const total = sumOf(traffic.names)
    const opened = issues.opened.length
    const worth: Figure[] = [
      {
        label: 'Value at stake',
        value: valueText(value.open),
        note: `${valueText(value.opened)} new`,
        tone: value.open > 0 ? 'bad' : 'plain',
      },
      {
        label: 'Value resolved',
        value: valueText(value.resolved),
        note: `${valueText(value.resolved30d)} in 30 days`,
        tone: value.resolved > 0 ? 'good' : 'plain',
      },
    ]
    const score: Figure[] = scores
      ? [
          {
            label: 'Score',
            value: String(scores.overall),
            note: scores.parts.map(({ score }) => score).join(' / '),
            tone: scoreTone(scores.overall),
          },
        ]
      : []
    const counts: Figure[] = [
      {
        label: 'Open issues',
        value: String(issues.open.length),
        note: `${opened} new, ${issues.openedBefore} a week earlier`,
        tone: opened > 0 ? 'bad' : 'plain',
      },
      {
        label: 'Events',
        value: eventCount(total.now),
        note: `${moveText(total.now, total.before)} to a week earlier`,
        tone: moveTone(total.now, total.before),
      },
    ]
    const hasValue = value.open + value.resolved + value.resolved30d > 0
    const figures =
      audience === 'executive' ? [...worth, ...score, ...counts] : [...counts, ...score, ...(hasValue ? worth : [])]
    const details = (scores?.parts ?? []).filter(({ score }) => score < 100 || audience === 'executive')
    const table = {
      kind: 'table' as const,
      head: ['Score of 24 hours', 'of 100'],
      rows: details.map(({ name, score, detail }) => [
        { text: NAMES[name] ?? name, note: detail },
        { text: String(score), tone: scoreTone(score) },
      ]),
      more: '',
    }
    return { blocks: [{ kind: 'figures', figures }, ...(details.length > 0 ? [table] : [])], lead: null }
  },
}

const NAMES: Readonly<Record<string, string>> = {
  availability: 'Availability: do the tags work?',
  accuracy: 'Accuracy: are the data right?',
  compliance: 'Compliance: what is given away?',
}

const scoreTone = (score: number): Tone => (score >= 95 ? 'good' : score >= 80 ? 'warn' : 'bad')
