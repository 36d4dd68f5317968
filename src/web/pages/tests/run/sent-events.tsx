import { Title } from '@mantine/core'
import type { RunDetail } from '#client/types.gen'
import { messages } from '../../../messages.ts'
import { Code, Data } from '../../../parts/data.tsx'
import { Num } from '../../../parts/numbers.tsx'
import { SimpleTable } from '../../../parts/simple-table.tsx'

/** Events sent by tags during the run, in chronological order. */
export function SentEvents({ run: { events } }: { run: RunDetail }) {
  const t = messages.tests
  if (events.length === 0) return null
  const rows = events.map((event, order) => ({ ...event, order }))
  return (
    <section>
      <Title order={2} mb="sm">
        {t.sent}
      </Title>
      <SimpleTable
        name={t.sent}
        rows={rows}
        keyOf={({ order }) => String(order)}
        columns={[
          { head: t.event, cell: ({ event }) => <Data>{event}</Data> },
          { head: t.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
          { head: t.step, isNumber: true, cell: ({ step }) => <Num value={step + 1} /> },
          { head: t.answer, cell: ({ answered, status }) => (answered ? t.answered : <Num value={status} />) },
          { head: t.parameters, cell: ({ params }) => <Parameters params={params} /> },
        ]}
      />
    </section>
  )
}

function Parameters({ params }: { params: Readonly<Record<string, string>> }) {
  const all = Object.entries(params)
  if (all.length === 0) return null
  return (
    <details>
      <summary>
        <Num value={all.length} />
      </summary>
      <dl className="facts">
        {all.map(([key, value]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>
              <Code>{key}</Code>
            </dt>
            <dd>
              <Data>{value}</Data>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
