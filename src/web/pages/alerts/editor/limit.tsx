import { NativeSelect, NumberInput } from '@mantine/core'
import { Fold } from '../../../parts/fold.tsx'
import { formatNumber } from '../../../parts/format.ts'
import { words } from '../../../words.ts'
import type { Draft, Throttle } from './draft.ts'
import classes from './editor.module.css'
import type { PartProps } from './part.ts'

const MOST_MESSAGES = 1000
const LONGEST = 10_080

/** At most so many messages in a time. */
export function Limit({ draft, change, errorOf }: Pick<PartProps, 'draft' | 'change' | 'errorOf'>) {
  const said = words.alert
  const { throttle: limit, ...rest } = draft
  const set = (part: Partial<Throttle>) =>
    change({ ...draft, throttle: { ...{ count: 1, per: 1, unit: 'hours' }, ...limit, ...part } })
  const says = limit ? said.limitSays(formatNumber(limit.count), formatNumber(limit.per), limit.unit) : said.noLimit
  const mustShow = ['count', 'per', 'unit'].some((part) => errorOf(`throttle.${part}`) !== undefined)
  return (
    <Fold title={said.limit} says={says} isOpenAtFirst={limit !== undefined} mustShow={mustShow}>
      <div className={classes.fields}>
        <NativeSelect
          label={said.limit}
          description={said.limitHint}
          style={{ gridColumn: '1 / -1' }}
          value={limit?.unit ?? ''}
          onChange={({ currentTarget: { value } }) => (value === '' ? change(rest as Draft) : set({ unit: value }))}
          data={[
            { value: '', label: said.noLimit },
            ...Object.entries(said.limitUnits).map(([value, label]) => ({ value, label })),
          ]}
          error={errorOf('throttle.unit')}
        />
        {limit && (
          <>
            <NumberInput
              label={said.messages}
              value={limit.count}
              min={1}
              max={MOST_MESSAGES}
              onChange={(typed) => set({ count: Number(typed) || 1 })}
              error={errorOf('throttle.count')}
            />
            <NumberInput
              label={said.per(limit.unit)}
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
