import { Title } from '@mantine/core'
import type { RunDetail } from '#client/types.gen'
import { Code, Data } from '../../../parts/data.tsx'
import { Num } from '../../../parts/numbers.tsx'
import { SimpleTable } from '../../../parts/simple-table.tsx'
import { words } from '../../../words.ts'

/** What tags sent during the run, in the order of sending. */
export function SentEvents({ run: { events } }: { run: RunDetail }) {
  const said = words.tests
  if (events.length === 0) return null
  const rows = events.map((event, order) => ({ ...event, order }))
  return (
    <section>
      <Title order={2} mb="sm">
        {said.sent}
      </Title>
      <SimpleTable
        name={said.sent}
        rows={rows}
        keyOf={({ order }) => String(order)}
        columns={[
          { head: said.event, cell: ({ event }) => <Data>{event}</Data> },
          { head: said.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
          { head: said.step, isNumber: true, cell: ({ step }) => <Num value={step + 1} /> },
          { head: said.answer, cell: ({ answered, status }) => (answered ? said.answered : <Num value={status} />) },
          { head: said.parameters, cell: ({ params }) => <Parameters params={params} /> },
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
