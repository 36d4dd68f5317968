import { Combobox, InputBase, useCombobox } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { messages } from '../messages.ts'
import { Data } from './data-text.tsx'
import classes from './multi-choice.module.css'

/** An option of a select. */
export interface Option {
  value: string
  label: string
}

interface ChoicesProps {
  label: string
  options: readonly Option[]
  chosen: readonly string[]
  choose(chosen: readonly string[]): void
  error?: string
  /** True if the labels are user data. */
  isData?: boolean
}

/** Select with multiple values. An empty selection means any. */
export function MultiChoice({ label, options, chosen, choose, error, isData = false }: ChoicesProps) {
  const list = useCombobox({ onDropdownClose: () => list.resetSelectedOption() })
  const names = options.filter(({ value }) => chosen.includes(value)).map((option) => option.label)
  const text = (value: string) => (isData ? <Data>{value}</Data> : value)
  const toggle = (value: string) =>
    choose(chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value])
  return (
    <Combobox store={list} onOptionSubmit={toggle} withinPortal width="max-content" position="bottom-start">
      <Combobox.Target targetType="button" withExpandedAttribute>
        <InputBase
          component="button"
          type="button"
          pointer
          label={label}
          error={error}
          rightSection={<Combobox.Chevron />}
          rightSectionPointerEvents="none"
          onClick={() => list.toggleDropdown()}
          classNames={{ input: classes.field }}
        >
          {names.length === 0 ? messages.components.any : text(names.join(', '))}
        </InputBase>
      </Combobox.Target>
      <Combobox.Dropdown className={classes.list}>
        <Combobox.Options aria-label={label} mah={320} className={classes.options} tabIndex={0}>
          {options.map((option) => {
            const isChosen = chosen.includes(option.value)
            return (
              <Combobox.Option
                key={option.value}
                value={option.value}
                aria-selected={isChosen}
                className={classes.option}
              >
                <IconCheck size={14} aria-hidden className={classes.mark} data-on={isChosen || undefined} />
                {text(option.label)}
              </Combobox.Option>
            )
          })}
          {options.length === 0 && <Combobox.Empty>{messages.components.none}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}
