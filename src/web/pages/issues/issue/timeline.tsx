import { Text, Timeline } from '@mantine/core'
import type { Delivery } from '#client/types.gen'
import { useMemberNames } from '../../../api/members.ts'
import { ChannelTarget } from '../../../components/channel-target.tsx'
import { Data, Sentence } from '../../../components/data-text.tsx'
import { PathLink } from '../../../components/path-link.tsx'
import { DateTime, TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { EscalationChannels } from './next-escalation.tsx'
import { channelOf, channelsOf, type Entry, hostsOf, isWithheld, type Line, linesOf, textOf } from './timeline-lines.ts'

interface TimelineProps {
  history: readonly Entry[]
  /** Deliveries for the issue, newest first. Deliveries that have been sent are also in the history. */
  deliveries: readonly Delivery[]
}

/** The history of an issue and its notifications in chronological order. */
export function IssueTimeline({ history, deliveries }: TimelineProps) {
  const nameOf = useMemberNames()
  const lines = linesOf(history)
  const waiting = deliveries.filter(({ status }) => status === 'pending' || status === 'sending').reverse()
  return (
    <Timeline
      active={lines.length + waiting.length}
      bulletSize={12}
      lineWidth={2}
      role="list"
      aria-label={messages.issue.history}
    >
      {lines.map((line) => (
        <Timeline.Item
          key={`${line.at}${line.entry.kind}${textOf(line.entry, 'deliveryId')}`}
          role="listitem"
          title={<Head line={line} />}
        >
          <Detail line={line} nameOf={nameOf} />
        </Timeline.Item>
      ))}
      {waiting.map(({ id, channel, createdAt, lastError }) => (
        <Timeline.Item
          key={id}
          role="listitem"
          title={<Message type={channel.type} how={messages.issue.waiting} target={channel.target} id={id} />}
        >
          <Small>
            <TimeAgo at={createdAt} /> {lastError && <Data>{lastError}</Data>}
          </Small>
        </Timeline.Item>
      ))}
    </Timeline>
  )
}

const Small = ({ children }: { children: React.ReactNode }) => (
  <Text fz="xs" c="dimmed" component="div">
    {children}
  </Text>
)

function Head({ line: { entry, fired } }: { line: Line }) {
  const channel = channelOf(entry)
  if (fired > 0) return messages.issue.seenAgain(fired)
  const deliveryId = textOf(entry, 'deliveryId')
  if (channel && entry.kind === 'notified') return <Message {...channel} how={messages.issue.sent} id={deliveryId} />
  if (channel && entry.kind === 'delivery_failed') {
    return <Message {...channel} how={messages.issue.failedToSend} id={deliveryId} />
  }
  if (entry.kind === 'escalated') return messages.escalation.escalated(Number(entry.payload?.step))
  if (isWithheld(entry)) return messages.maintenance.withheld
  if (entry.kind === 'held_back') return messages.issue.heldBackCount(1)
  const known = messages.issue.kinds[entry.kind as keyof typeof messages.issue.kinds]
  return known ?? <Data>{entry.kind}</Data>
}

/** A notification, linked to its delivery. */
function Message({ type, how, target, id }: { type: string; how: string; target: string; id: string | null }) {
  const channel = messages.deliveries.channels[type as keyof typeof messages.deliveries.channels] ?? <Data>{type}</Data>
  return (
    <span style={{ overflowWrap: 'anywhere', lineHeight: 1.4 }}>
      {channel} {id === null ? how : <PathLink path={`/deliveries/${id}`}>{how}</PathLink>}{' '}
      <ChannelTarget target={target} />
    </span>
  )
}

function Detail({
  line: { entry, heldBack, fired, until },
  nameOf,
}: {
  line: Line
  nameOf(id: string): string | null
}) {
  const by = textOf(entry, 'by')
  const details =
    textOf(entry, 'window') ??
    textOf(entry, 'summary') ??
    textOf(entry, 'reason') ??
    textOf(entry, 'text') ??
    textOf(entry, 'error')
  const mutedUntil = entry.kind === 'muted' || isWithheld(entry) ? entry.payload?.until : null
  const hosts = hostsOf(entry)
  const channels = channelsOf(entry)
  const rule = entry.payload?.rule
  const assigneeId = entry.kind === 'assigned' ? (textOf(entry, 'assigneeId') ?? '') : null
  const name = by === null ? null : by === 'time' ? messages.issue.asScheduled : nameOf(by)
  return (
    <>
      {details && (
        <Text fz="sm" style={{ overflowWrap: 'anywhere' }}>
          <Sentence>{details}</Sentence>
        </Text>
      )}
      {channels.length > 0 && (
        <Text fz="sm" style={{ overflowWrap: 'anywhere' }}>
          <EscalationChannels channels={channels} />
        </Text>
      )}
      {assigneeId !== null && (
        <Text fz="sm">{assigneeId ? <Data>{nameOf(assigneeId)}</Data> : messages.issue.nobody}</Text>
      )}
      {hosts.length > 0 && (
        <Text fz="sm" style={{ overflowWrap: 'anywhere' }}>
          <Data>{hosts.join(', ')}</Data>
        </Text>
      )}
      <Small>
        <TimeAgo at={until} />
        {typeof rule === 'number' && ` ${messages.issue.byRule(rule)}`}
        {name !== null && by === 'time' && ` ${name}`}
        {name !== null && by !== 'time' && (
          <>
            {' '}
            {messages.issue.by} <Data>{name}</Data>
          </>
        )}
        {typeof mutedUntil === 'number' && (
          <>
            {' '}
            {messages.issue.until} <DateTime at={mutedUntil} />
          </>
        )}
        {fired > 0 && heldBack > 0 && ` · ${messages.issue.heldBackCount(heldBack)}`}
      </Small>
    </>
  )
}
