import { Text } from '@mantine/core'
import type { IssueEvidence } from '#client/types.gen'
import { messages } from '../../../messages.ts'
import { Data, Sentence } from '../../../parts/data.tsx'
import { formatDuration } from '../../../parts/format.ts'
import { PathLink } from '../../../parts/path-link.tsx'

/** The likely cause; renders nothing when there is none. */
export function LikelyCause({ evidence }: { evidence: IssueEvidence }) {
  const { explainedBy, cause, changes, issue } = evidence
  const change = changes.find(({ id }) => id === cause?.changeId) ?? changes[0] ?? null
  if (explainedBy) {
    return (
      <Text>
        {messages.issue.partOf}{' '}
        <PathLink path={`/issues/${explainedBy.issueId}`}>
          <Sentence>{explainedBy.title}</Sentence>
        </PathLink>
      </Text>
    )
  }
  if (change) {
    const ms = issue.firstSeenAt - change.occurredAt
    return (
      <Text>
        {messages.issue.likelyCause}{' '}
        <PathLink path={`/changes/${change.id}`}>
          <Data>{change.title}</Data>
        </PathLink>{' '}
        {distanceOf(ms)}
      </Text>
    )
  }
  // A cause with the issue's own subject explains nothing.
  if (!cause || cause.kind === 'tag' || cause.title === issue.title) return null
  return (
    <Text>
      {messages.issue.likelyCause} {messages.issue.causes[cause.kind]} <Sentence>{cause.title}</Sentence>
    </Text>
  )
}

/** How long before the first occurrence the change happened. Within a minute the order is unknown. */
function distanceOf(ms: number): string {
  if (Math.abs(ms) < MINUTE_MS) return messages.issue.atOnce
  return ms > 0 ? messages.issue.before(formatDuration(ms)) : messages.issue.after(formatDuration(-ms))
}
const MINUTE_MS = 60_000
