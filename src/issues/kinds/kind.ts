import type { AlertType } from '../../alerts/types/alert-type.ts'
import type { Evidence } from '../../alerts/types/evidence.ts'

/** What the issues of a kind need from an alert's type. */
type OfAlertType = Pick<
  AlertType,
  'kind' | 'title' | 'unit' | 'text' | 'countsFirings' | 'explainsDrops' | 'isRise' | 'summarize'
>

/**
 * What raises issues: a type of alert, or a kind of run. It says all that lists, messages, the digest and evidence need
 * to know of it; every type of alert is one.
 */
export interface IssueKind extends OfAlertType {
  /** Absent `valid`: no valid event is shown next to the violating one. */
  evidence: Omit<Evidence, 'valid'> & Partial<Pick<Evidence, 'valid'>>
  /** True when the next run without a finding ends its issue; otherwise quiet time does. */
  clearsAtOnce?: boolean
  /** An issue that goes on is told again, and stands in its history again, this much later at the earliest; default 0. */
  tellsAgainAfterMs?: number
}
