import { Button } from '@mantine/core'
import { replayDelivery } from '#client/sdk.gen'
import type { Delivery } from '#client/types.gen'
import { mutate } from '../../api/mutate.ts'
import type { StatusIcon } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'

/** The mark of each status. */
export const DELIVERY_MARKS: Record<Delivery['status'], StatusIcon> = {
  pending: 'learning',
  sending: 'learning',
  delivered: 'resolved',
  failed: 'failed',
  withdrawn: 'muted',
}

/** Type of a notification. */
export const typeOf = ({ transition, escalationStep }: Pick<Delivery, 'transition' | 'escalationStep'>): string =>
  escalationStep === undefined
    ? messages.deliveries.transitions[transition]
    : messages.escalation.delivery(escalationStep)

/** The time of the next attempt; nothing if there is none. */
export function NextAttempt({ delivery: { status, dueAt }, isQuiet }: { delivery: Delivery; isQuiet: boolean }) {
  if (status !== 'pending' || dueAt === null) return null
  return (
    <>
      {messages.deliveries.nextAttempt} <TimeAgo at={dueAt} isQuiet={isQuiet} />
    </>
  )
}

/** Sends a finished delivery again: the same message under the same id. */
export function Replay({ delivery }: { delivery: Delivery }) {
  const { id, status } = delivery
  const t = messages.deliveries
  if (status !== 'failed' && status !== 'delivered') return null
  const replay = () =>
    mutate({
      send: () => replayDelivery({ path: { id } }),
      invalidates: ['listDeliveries', 'getDelivery'],
      message: t.replayed,
    })
  return (
    <Button size="compact-sm" variant="default" aria-description={typeOf(delivery)} onClick={() => void replay()}>
      {t.replay}
    </Button>
  )
}
