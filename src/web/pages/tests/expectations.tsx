import { Button, CloseButton, Group, NativeSelect, NumberInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { FlowTestInput } from '#client/types.gen'
import { Data, dataOption } from '../../components/data-text.tsx'
import { messages } from '../../messages.ts'
import classes from './expectations.module.css'

type Expectation = NonNullable<FlowTestInput['expectations']>[number]

interface ExpectationsProps {
  expectations: readonly Expectation[]
  /** Titles of the recording's steps; empty when steps can't be selected. */
  steps: readonly string[]
  change(expectations: Expectation[]): void
  /** Index of a row that gets the focus when it is added. */
  focused?: number | null
  error: string | undefined
}

/** The tags that must fire. Conditions set through the API are retained. */
export function Expectations({ expectations, steps, change, focused = null, error }: ExpectationsProps) {
  const t = messages.tests
  const set = (index: number, part: Partial<Expectation>) =>
    change(expectations.map((one, at) => (at === index ? { ...one, ...part } : one)))
  return (
    <section>
      <Title order={3} mb="sm">
        {t.expectations}
      </Title>
      {error && (
        <Text role="alert" c="var(--tw-critical-text)" mb="sm">
          <Data>{error}</Data>
        </Text>
      )}
      <Stack gap="sm">
        {expectations.map((one, index) => (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified only by their index
            key={index}
            number={index + 1}
            expectation={one}
            steps={steps}
            isFocused={index === focused}
            set={(part) => set(index, part)}
            remove={() => change(expectations.filter((_, at) => at !== index))}
          />
        ))}
      </Stack>
      <Button variant="default" mt="sm" onClick={() => change([...expectations, { min: 1 }])}>
        {t.addExpectation}
      </Button>
    </section>
  )
}

interface RowProps {
  number: number
  expectation: Expectation
  steps: readonly string[]
  isFocused: boolean
  set(part: Partial<Expectation>): void
  remove(): void
}

function Row({ number, expectation, steps, isFocused, set, remove }: RowProps) {
  const vendor = useRef<HTMLInputElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus is moved once, when the row is added
  useEffect(() => {
    if (isFocused) vendor.current?.focus()
  }, [])
  const t = messages.tests
  const whole = { value: '', label: t.anyStep }
  return (
    <Group gap="sm" align="flex-end" className={classes.row}>
      <TextInput
        ref={vendor}
        label={t.vendorOf(number)}
        value={expectation.vendor ?? ''}
        onChange={({ currentTarget }) => set({ vendor: currentTarget.value || undefined })}
      />
      <TextInput
        label={t.eventOf(number)}
        value={expectation.event ?? ''}
        onChange={({ currentTarget }) => set({ event: currentTarget.value || undefined })}
      />
      {steps.length > 0 && (
        <NativeSelect
          label={t.stepOf(number)}
          value={expectation.step === undefined ? '' : String(expectation.step)}
          onChange={({ currentTarget }) =>
            set({ step: currentTarget.value === '' ? undefined : Number(currentTarget.value) })
          }
          data={[whole, ...steps.map((label, index) => dataOption(String(index), label))]}
        />
      )}
      <NumberInput
        label={t.leastOf(number)}
        w={110}
        value={expectation.min ?? 1}
        onChange={(value) => set({ min: Number(value) })}
        min={0}
        allowDecimal={false}
      />
      <CloseButton aria-label={t.removeExpectation(number)} onClick={remove} mb={4} />
    </Group>
  )
}
