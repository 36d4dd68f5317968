import { NativeSelect, NumberInput } from '@mantine/core'
import { messages } from '../../../messages.ts'
import { Fold } from '../../../parts/fold.tsx'
import { formatNumber } from '../../../parts/format.ts'
import type { Draft, Throttle } from './draft.ts'
import classes from './editor.module.css'
import type { PartProps } from './part.ts'

const MOST_MESSAGES = 1000
const LONGEST = 10_080

/** Limits the number of messages within a period. */
export function Limit({ draft, change, errorOf }: Pick<PartProps, 'draft' | 'change' | 'errorOf'>) {
  const t = messages.alert
  const { throttle: limit, ...rest } = draft
  const set = (part: Partial<Throttle>) =>
    change({ ...draft, throttle: { ...{ count: 1, per: 1, unit: 'hours' }, ...limit, ...part } })
  const says = limit ? t.limitSays(formatNumber(limit.count), formatNumber(limit.per), limit.unit) : t.noLimit
  const mustShow = ['count', 'per', 'unit'].some((part) => errorOf(`throttle.${part}`) !== undefined)
  return (
    <Fold title={t.limit} says={says} isOpenAtFirst={limit !== undefined} mustShow={mustShow}>
      <div className={classes.fields}>
        <NativeSelect
          label={t.limit}
          description={t.limitHint}
          style={{ gridColumn: '1 / -1' }}
          value={limit?.unit ?? ''}
          onChange={({ currentTarget: { value } }) => (value === '' ? change(rest as Draft) : set({ unit: value }))}
          data={[
            { value: '', label: t.noLimit },
            ...Object.entries(t.limitUnits).map(([value, label]) => ({ value, label })),
          ]}
          error={errorOf('throttle.unit')}
        />
        {limit && (
          <>
            <NumberInput
              label={t.messages}
              value={limit.count}
              min={1}
              max={MOST_MESSAGES}
              onChange={(typed) => set({ count: Number(typed) || 1 })}
              error={errorOf('throttle.count')}
            />
            <NumberInput
              label={t.per(limit.unit)}
              value={limit.per}
              min={1}
              max={LONGEST}
              onChange={(typed) => set({ per: Number(typed) || 1 })}
              error={errorOf('throttle.per')}
            />
          </>
        )}
      </div>
    </Fold>
  )
}
