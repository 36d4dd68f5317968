import { isCostly } from '../../../conditions/condition.ts'
import { describeViolation, joinWords, type ViolationText } from '../../../conditions/condition-text.ts'
import { countText } from '../../../core/text.ts'
import type { Alert } from '../../alert.ts'
import { type ExplainContext, totalOf } from '../../event-totals.ts'
import type { Finding } from '../../finding.ts'

/**
 * Returns the finding with a summary that names the violated condition and the proportion of violating events: ``12 of
 * 340 purchase events had no `transaction_id`; expected none``.
 */
export function explainViolation(
  alert: Alert,
  finding: Finding,
  { event, name, totals, regions }: ExplainContext,
): Finding {
  // Recompiling expensive conditions would take seconds.
  const broken = isCostly(alert) ? { always: [], here: [] } : describeViolation(alert, event, regions)
  const fault = broken.always.length > 0 ? { fault: joinWords(broken.always) } : {}
  const known = { ...finding, ...fault, did: describeFault(broken), total: totalOf(finding, totals) }
  return { ...known, summary: violationSummary({ ...known, event: name }) }
}

/** Returns the summary of an explained finding, from its numbers. */
export function violationSummary({ event, occurrences, total = null, did = 'broke the rule' }: Finding): string {
  const isKnown = total !== null && total >= occurrences
  const count = `${countText(occurrences)}${isKnown ? ` of ${countText(total)}` : ''}`
  const isOne = (isKnown ? total : occurrences) === 1
  const events = [event, isOne ? 'event' : 'events'].filter(Boolean).join(' ')
  return `${count} ${events} ${did}; expected none`
}

function describeFault({ always, here }: ViolationText): string {
  if (here.length === 0) return joinWords(always) || 'broke the rule'
  return `${always.length > 0 ? joinWords(always) : 'broke the rule'}; the latest ${joinWords(here)}`
}
