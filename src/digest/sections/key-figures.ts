import { amountText, countText } from '../../core/text.ts'
import type { Figure, Tone } from '../../mail/mail-document.ts'
import { sumOf } from '../event-traffic.ts'
import { comparisonText, eventCount, moveTone } from '../format-figures.ts'
import type { DigestSection } from './section.ts'

/** Key figures: value at stake, scores, issues and events. */
export const valueSection: DigestSection = {
  id: 'value',
  title: 'At a glance',
  of: { executive: 'Value and scores' },
  write(facts, { audience }) {
    const { value, scores, issues, traffic } = facts
    const total = sumOf(traffic.names)
    const opened = issues.opened.length
    const worth = (amount: number) => amountText(amount, facts.currency)
    const stake: Figure = {
      label: 'Value at stake',
      value: worth(value.open),
      tone: value.open > 0 ? 'bad' : 'plain',
      note: `${worth(value.opened)} new`,
    }
    const resolved: Figure = {
      label: 'Value resolved',
      value: worth(value.resolved),
      tone: value.resolved > 0 ? 'good' : 'plain',
      note: `${worth(value.resolved30d)} in 30 days`,
    }
    const score: Figure[] = scores
      ? [{ label: 'Score', value: String(scores.overall), note: 'of 100', tone: scoreTone(scores.overall) }]
      : []
    const openIssues: Figure = {
      label: 'Open issues',
      value: countText(issues.open.length),
      tone: opened > 0 ? 'bad' : 'plain',
      note: `${countText(opened)} new, ${countText(issues.openedBefore)} a week earlier`,
    }
    const events: Figure = {
      label: 'Events',
      value: eventCount(total.now),
      tone: moveTone(total.now, total.before),
      note: comparisonText(total.now, total.before),
    }
    const hasValue = value.open + value.resolved + value.resolved30d > 0
    const usual = [openIssues, events, ...score, ...(hasValue ? [stake] : [])]
    const figures = audience === 'executive' ? [stake, resolved, ...score, openIssues] : usual
    const details = (scores?.parts ?? []).filter(({ score }) => score < 100 || audience === 'executive')
    const table = {
      kind: 'table' as const,
      head: ['24-hour score', 'of 100'],
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
  availability: 'Availability: do tags fire?',
  accuracy: 'Accuracy: is the data correct?',
  compliance: 'Compliance: is personal data protected?',
}

const scoreTone = (score: number): Tone => (score >= 95 ? 'good' : score >= 80 ? 'warn' : 'bad')
