import { Button, Group, Stack, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Event } from '#client/types.gen'
import { copyText } from '../../../components/copy-text.ts'
import { Code, Data } from '../../../components/data-text.tsx'
import { DateTime } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { notices } from '../../../state/notices.ts'
import { ViolatedRules } from './violated-rules.tsx'

/** Event fields with a leading dollar sign, as spelled in conditions. */
const FIELDS = [
  ...(['vendor', 'event', 'account', 'kind', 'env', 'host', 'path', 'title', 'status'] as const),
  ...(['sessionId', 'customerId', 'execMs', 'durMs', 'bytes', 'version', 'weight'] as const),
]

/** All known fields, segments and parameters of an event. */
export function EventDetails({ event }: { event: Event }) {
  const t = messages.explore.events
  const fields = FIELDS.filter((name) => event[name] !== null)
  return (
    <Stack gap="md">
      <Group gap="sm">
        <Button
          variant="default"
          onClick={() => void copyText(JSON.stringify(event, null, 2)).then(() => notices.say(messages.shell.copied))}
        >
          {t.copyJson}
        </Button>
        {event.sessionId && (
          <Button component={Link} to={`/explore/sessions/${encodeURIComponent(event.sessionId)}`} variant="default">
            {t.session}
          </Button>
        )}
      </Group>
      {event.violations && event.violations.length > 0 && <ViolatedRules alertIds={event.violations} />}
      <Title order={3}>{t.fields}</Title>
      <dl className="facts">
        <dt>{t.time}</dt>
        <dd>
          <DateTime at={event.receivedAt} />
        </dd>
        {fields.map((name) => (
          <Pair key={name} name={`$${name}`} value={String(event[name])} />
        ))}
        {Object.entries(event.segments ?? {}).map(
          ([name, value]) => value !== null && <Pair key={name} name={`$${name}`} value={value} />,
        )}
      </dl>
      <Title order={3}>{t.parameters}</Title>
      <dl className="facts">
        {Object.entries(event.params).map(([name, value]) => (
          <Pair key={name} name={name} value={value} />
        ))}
      </dl>
    </Stack>
  )
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>
        <Code>{name}</Code>
      </dt>
      <dd>
        <Data>{value}</Data>
      </dd>
    </>
  )
}
