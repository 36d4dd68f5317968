import type { Domain } from '#client/types.gen'
import { messages } from '../../messages.ts'
import { formatAge } from '../../parts/format.ts'
import { useNow } from '../../parts/now.ts'
import { type Standing, StatusMark } from '../../parts/status-mark.tsx'

const STATUS_MARKS: Record<Domain['status'], Standing> = { waiting: 'learning', active: 'resolved', silent: 'failed' }
const HOUR_MS = 3_600_000

/** The status of a domain. An active one without events for an hour is shown as quiet. */
export function DomainStatus({ status, lastEventAt }: Domain) {
  const now = useNow()
  const quietMs = status === 'active' && lastEventAt ? now - lastEventAt : 0
  if (quietMs < HOUR_MS) return <StatusMark status={STATUS_MARKS[status]} word={messages.domains.statuses[status]} />
  const age = formatAge(quietMs)
  return <StatusMark status="learning" word={messages.domains.quiet(age)} />
}
