import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { messages } from '../../messages.ts'
import { At } from '../../parts/ago.tsx'
import { Card } from '../../parts/card.tsx'
import { Data, Sentence } from '../../parts/data.tsx'
import classes from './inbox.module.css'
import { inboxAskedFor } from './question.ts'

/** The messages that the demo delivered. */
export function Inbox() {
  const { data } = useQuery(inboxAskedFor)
  const t = messages.deliveries
  if (!data) return null
  return (
    <div className={classes.inbox}>
      <Card title={t.inbox}>
        <Text c="dimmed" mb="md">
          {t.inboxHint}
        </Text>
        {data.length === 0 && <Text>{t.noMessages}</Text>}
        <Stack gap="sm">
          {data.map(({ id, at, via, title, text }) => (
            <details key={id}>
              <summary>
                <At at={at} isQuiet /> <Data>{via}</Data> <Sentence>{title}</Sentence>
              </summary>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keyboard requires focus */}
              <pre className={classes.text} tabIndex={0} translate="no">
                {text}
              </pre>
            </details>
          ))}
        </Stack>
      </Card>
    </div>
  )
}
