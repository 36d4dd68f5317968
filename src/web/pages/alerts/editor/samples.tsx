import { Text } from '@mantine/core'
import { messages } from '../../../messages.ts'
import { Ago } from '../../../parts/ago.tsx'
import { Code, Data } from '../../../parts/data.tsx'
import { SimpleTable } from '../../../parts/simple-table.tsx'
import type { Draft } from './draft.ts'
import classes from './editor.module.css'
import { placeOf, type Sample, timeOf, valueAt } from './sample.ts'

const SHOWN = 8

/** The most recent matching events, or the intervals that would have fired. */
export function Samples({ samples, draft }: { samples: readonly Sample[]; draft: Draft }) {
  const t = messages.alert
  const keys = (draft.conditions?.items ?? []).map(({ parameter }) => parameter).filter((key) => key !== '*')
  return (
    <SimpleTable
      name={t.samples}
      rows={samples.slice(0, SHOWN)}
      keyOf={(sample) => JSON.stringify(sample)}
      columns={[
        { head: t.time, cell: (sample) => <Ago at={timeOf(sample)} /> },
        {
          head: t.where,
          cell: (sample) => (
            <div>
              <Data>{String(sample.summary ?? placeOf(sample))}</Data>
              {keys.map((key) => (
                <div key={key}>
                  <Code>{key}</Code> <Data>{JSON.stringify(valueAt(sample, key))}</Data>
                </div>
              ))}
              <details>
                <Text component="summary" fz="xs" c="dimmed">
                  {t.whole}
                </Text>
                <pre className={classes.sample} translate="no">
                  {JSON.stringify(sample, null, 2)}
                </pre>
              </details>
            </div>
          ),
        },
      ]}
    />
  )
}
