import { Button, NumberInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Form } from '#client/types.gen'
import { Data } from '../../../components/data-text.tsx'
import { fieldsOf } from '../../../components/form-schema.ts'
import { formatNumber } from '../../../components/format.ts'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { messages } from '../../../messages.ts'
import { perWeek, sensitivityFor } from './backtest-summary.ts'
import { type Draft, objectIn, schemaOf } from './draft.ts'

/** Sensitivities that a backtest compares. */
export const SENSITIVITIES = [2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8] as const

/** Name of the type-specific field that has a sensitivity; null when there is none. */
export const sensitivityField = (form: Form | undefined): string | null =>
  fieldsOf(schemaOf(form)).find(([, schema]) => schema.properties?.sensitivity)?.[0] ?? null

interface SensitivityProps {
  draft: Draft
  form: Form | undefined
  change: ((draft: Draft) => void) | null
  alternatives: readonly { sensitivity: number; fired: number }[]
  days: number
}

/**
 * Number of alerts at each sensitivity. The user can choose an acceptable number of alerts per week instead of a
 * sensitivity.
 */
export function Sensitivity({ draft, form, change, alternatives, days }: SensitivityProps) {
  const [isNone, setNone] = useState(false)
  const field = sensitivityField(form)
  const t = messages.alert
  const choose = (sensitivity: number) =>
    field && change?.({ ...draft, [field]: { ...objectIn(draft, field), sensitivity } })
  const chooseBy = (most: number) => {
    const sensitivity = sensitivityFor(alternatives, days, most)
    setNone(sensitivity === null)
    if (sensitivity !== null) choose(sensitivity)
  }
  const own = field === null ? undefined : objectIn(draft, field).sensitivity
  return (
    <Stack gap="sm">
      {change && (
        <NumberInput
          label={t.maxPerWeek}
          description={t.maxPerWeekHint}
          min={0}
          maw={320}
          onChange={(typed) => typeof typed === 'number' && chooseBy(typed)}
          error={isNone ? t.noSettingFits : undefined}
        />
      )}
      <SimpleTable
        name={t.bySensitivity}
        rows={alternatives.filter(({ sensitivity }) => Number.isInteger(sensitivity) || sensitivity === own)}
        keyOf={({ sensitivity }) => String(sensitivity)}
        columns={[
          {
            head: t.sensitivity,
            cell: ({ sensitivity }) =>
              change && sensitivity !== own ? (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  aria-label={t.applySensitivity(formatNumber(sensitivity, 1))}
                  onClick={() => choose(sensitivity)}
                >
                  <Data>{formatNumber(sensitivity, 1)}</Data>
                </Button>
              ) : (
                <Text span fz="sm" fw={sensitivity === own ? 600 : undefined} px="sm">
                  <Data>{formatNumber(sensitivity, 1)}</Data>
                </Text>
              ),
          },
          {
            head: t.perWeek,
            isNumber: true,
            cell: ({ fired }) => <Data>{formatNumber(perWeek(fired, days), 1)}</Data>,
          },
        ]}
      />
    </Stack>
  )
}
