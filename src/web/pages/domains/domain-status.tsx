import type { Domain } from '#client/types.gen'
import { formatAge } from '../../components/format.ts'
import { type StatusIcon, StatusMark } from '../../components/status-mark.tsx'
import { useNow } from '../../components/use-now.ts'
import { messages } from '../../messages.ts'

const STATUS_MARKS: Record<Domain['status'], StatusIcon> = { waiting: 'learning', active: 'resolved', silent: 'failed' }
const HOUR_MS = 3_600_000

/** The status of a domain. An active domain without events for an hour is shown as quiet. */
export function DomainStatus({ status, lastEventAt }: Domain) {
  const now = useNow()
  const quietMs = status === 'active' && lastEventAt ? now - lastEventAt : 0
  if (quietMs < HOUR_MS) return <StatusMark status={STATUS_MARKS[status]} word={messages.domains.statuses[status]} />
  const age = formatAge(quietMs)
  return <StatusMark status="learning" word={messages.domains.quiet(age)} />
}
