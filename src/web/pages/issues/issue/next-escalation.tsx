import { Text } from '@mantine/core'
import { Fragment } from 'react'
import type { IssueDetail } from '#client/types.gen'
import { ChannelTarget } from '../../../components/channel-target.tsx'
import { Data } from '../../../components/data-text.tsx'
import { DateTime } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'

/** The escalation step that follows unless the issue is acknowledged; renders nothing when there is none. */
export function NextEscalation({ issue: { status, nextEscalation: next } }: { issue: IssueDetail }) {
  const t = messages.escalation
  if (!next || status !== 'open') return null
  return (
    <Text style={{ overflowWrap: 'anywhere' }}>
      {t.escalates} {next.channels && <EscalationChannels channels={next.channels} />} {t.at} <DateTime at={next.at} />{' '}
      {t.unless}
    </Text>
  )
}

/** The channels of a step: `to E-mail ann@example.com, Slack #alerts`. */
export function EscalationChannels({ channels }: { channels: readonly { type: string; target: string }[] }) {
  const titles: Readonly<Record<string, string>> = messages.deliveries.channels
  return (
    <>
      {messages.escalation.to}{' '}
      {channels.map(({ type, target }, index) => (
        <Fragment key={`${type} ${target}`}>
          {index > 0 && ', '}
          {titles[type] ?? <Data>{type}</Data>} <ChannelTarget target={target} />
        </Fragment>
      ))}
    </>
  )
}
