import { ActionIcon, Button, Checkbox, Group, Menu, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconDots, IconGripVertical } from '@tabler/icons-react'
import type { KeyboardEvent } from 'react'
import type { Form } from '#client/types.gen'
import { Collapsible } from '../../../components/collapsible.tsx'
import { Data, dataOption } from '../../../components/data-text.tsx'
import { type FormSchema, fieldsOf, withPart } from '../../../components/form-schema.ts'
import { SchemaField, SchemaForm } from '../../../components/schema-form.tsx'
import { messages } from '../../../messages.ts'
import {
  type Expectation,
  type RecordedStep,
  selectorsOf,
  selectorText,
  waitingForPage,
  waitsForPage,
  withSelector,
  withType,
} from './recorded-steps.ts'
import classes from './recording-editor.module.css'

/** Actions on the steps of the list. Steps are numbered from 0. */
export interface StepActs {
  edit(at: number, step: RecordedStep): void
  /** Inserts an empty step at this position. */
  insert(at: number): void
  duplicate(at: number): void
  /** `part` is the part of the row that keeps the focus; null for none. */
  move(from: number, to: number, part: string | null): void
  remove(at: number): void
  expectTag(at: number): void
  /** Starts dragging a step, or ends it with null. */
  drag(at: number | null): void
  drop(at: number): void
}

interface StepRowProps {
  stepKey: number
  index: number
  /** Number of steps. */
  count: number
  step: RecordedStep
  forms: readonly Form[]
  /** Schema of this kind of step; empty while loading, and for unknown kinds. */
  schema: FormSchema
  /** The tags expected after this step. */
  expected: readonly Expectation[]
  acts: StepActs
  isDragged: boolean
  /** Returns the error of a field of this step; of the step itself for an empty name. */
  errorOf(name: string): string | undefined
}

/** Fields that have a separate input in the row. */
const OWN = ['type', 'selectors', 'assertedEvents']
/** Kinds of steps that never wait for a new page, or always do. */
const WITHOUT_WAIT = ['navigate', 'close', 'setViewport', 'emulateNetworkConditions']

/** A step: its action, its target and values, what it waits for, and the tags expected after it. */
export function StepRow(props: StepRowProps) {
  const { stepKey, index, count, step, forms, schema, acts, isDragged, errorOf } = props
  const t = messages.tests.editor
  const number = index + 1
  const change = (next: RecordedStep) => acts.edit(index, next)
  const { properties = {}, required = [] } = schema
  const values = fieldsOf(schema).filter(([name]) => required.includes(name) && !OWN.includes(name))
  const isUnknown = forms.length > 0 && !forms.some(({ kind }) => kind === step.type)
  const keyDown = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (!event.altKey || by === undefined) return
    event.preventDefault()
    acts.move(
      index,
      index + by,
      (event.target as HTMLElement).closest<HTMLElement>('[data-part]')?.dataset.part ?? null,
    )
  }
  return (
    <li
      className={classes.row}
      data-step={stepKey}
      data-dragged={isDragged || undefined}
      onKeyDown={keyDown}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        acts.drop(index)
      }}
    >
      <div className={classes.head}>
        {/* Dragging is an addition for the mouse; the buttons do the same. */}
        <span
          className={classes.grip}
          draggable
          aria-hidden
          title={t.drag}
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = 'move'
            event.dataTransfer.setData('text/plain', String(number))
            acts.drag(index)
          }}
          onDragEnd={() => acts.drag(null)}
        >
          <IconGripVertical size={16} />
        </span>
        <span className={classes.number} aria-hidden>
          {number}
        </span>
        <div className={classes.fields}>
          <NativeSelect
            label={t.action(number)}
            data-part="action"
            value={step.type}
            onChange={({ currentTarget: { value } }) => {
              const next = forms.find(({ kind }) => kind === value)
              if (next) change(withType(step, value, next.schema as FormSchema))
            }}
            data={[
              ...(isUnknown || forms.length === 0 ? [dataOption(step.type, step.type)] : []),
              ...forms.map(({ kind, title }) => dataOption(kind, title)),
            ]}
            error={errorOf('type')}
          />
          {'selectors' in properties && (
            <TextInput
              label={t.target(number)}
              data-part="target"
              placeholder={t.targetPlaceholder}
              value={textAt(step, 0)}
              onChange={({ currentTarget }) => change(withSelector(step, 0, currentTarget.value))}
              error={errorOf('selectors')}
              translate="no"
            />
          )}
          {values.map(([name, part]) => (
            <SchemaField
              key={name}
              name={name}
              schema={{ ...withoutHelp(part), title: `${part.title ?? name} ${number}` }}
              path={name}
              value={step[name]}
              change={(value) => change(withValue(step, name, value))}
              errorOf={errorOf}
            />
          ))}
        </div>
        <Group gap={4} wrap="nowrap" className={classes.acts}>
          <ActionIcon
            variant="subtle"
            color="gray"
            data-part="up"
            aria-label={t.moveUp(number)}
            aria-disabled={index === 0}
            onClick={() => acts.move(index, index - 1, 'up')}
          >
            <IconArrowUp size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            data-part="down"
            aria-label={t.moveDown(number)}
            aria-disabled={number === count}
            onClick={() => acts.move(index, index + 1, 'down')}
          >
            <IconArrowDown size={16} aria-hidden />
          </ActionIcon>
          <StepMenu index={index} acts={acts} />
        </Group>
      </div>
      {errorOf('') && (
        <Text role="alert" fz="sm" c="var(--tw-critical-text)">
          <Data>{errorOf('')}</Data>
        </Text>
      )}
      <Group gap="md" className={classes.notes}>
        {!WITHOUT_WAIT.includes(step.type) && (
          <Checkbox
            size="xs"
            label={t.waitForPage}
            aria-label={t.waitForPageOf(number)}
            checked={waitsForPage(step)}
            onChange={({ currentTarget }) => change(waitingForPage(step, currentTarget.checked))}
          />
        )}
        <Expected {...props} />
      </Group>
      <MoreFields {...props} shown={values.map(([name]) => name)} />
    </li>
  )
}

const textAt = (step: RecordedStep, index: number) => {
  const selector = selectorsOf(step)[index]
  return selector === undefined ? '' : selectorText(selector)
}

const withoutHelp = ({ description: _, ...schema }: FormSchema): FormSchema => schema

/** An empty string is a valid value of a required text field: it clears the field of the page. */
const withValue = (step: RecordedStep, name: string, value: unknown): RecordedStep =>
  (value === '' ? { ...step, [name]: value } : withPart(step, name, value)) as RecordedStep

function StepMenu({ index, acts }: { index: number; acts: StepActs }) {
  const t = messages.tests.editor
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" data-part="menu" aria-label={t.menu(index + 1)}>
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => acts.insert(index)}>{t.insertAbove}</Menu.Item>
        <Menu.Item onClick={() => acts.insert(index + 1)}>{t.insertBelow}</Menu.Item>
        <Menu.Item onClick={() => acts.duplicate(index)}>{t.duplicate}</Menu.Item>
        <Menu.Item color="red" onClick={() => acts.remove(index)}>
          {t.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** The tags expected after the step. They are edited below the list. */
function Expected({ index, expected, acts }: Pick<StepRowProps, 'index' | 'expected' | 'acts'>) {
  const t = messages.tests
  return (
    <Group gap="sm" fz="sm">
      {expected.length > 0 && (
        <span>
          {t.editor.expects}{' '}
          <Data>
            {expected
              .map(({ vendor, event, label }) => [vendor, event, label].filter(Boolean).join(' ') || '*')
              .join(', ')}
          </Data>
        </span>
      )}
      <Button
        variant="subtle"
        size="compact-sm"
        aria-label={t.editor.expectTagOf(index + 1)}
        onClick={() => acts.expectTag(index)}
      >
        {t.editor.expectTag}
      </Button>
    </Group>
  )
}

/** Alternative selectors and rarely used fields. */
function MoreFields({ index, step, schema, acts, errorOf, shown }: StepRowProps & { shown: readonly string[] }) {
  const t = messages.tests.editor
  const number = index + 1
  const change = (next: RecordedStep) => acts.edit(index, next)
  const hidden = [...shown, 'selectors', 'type']
  const optional = fieldsOf(schema).filter(([name]) => !hidden.includes(name))
  const others = selectorsOf(step).slice(1)
  const set = optional.filter(([name]) => step[name] !== undefined).length
  if (optional.length === 0) return null
  return (
    <Collapsible
      title={t.more}
      summary={t.moreSummary(others.length, set)}
      mustShow={optional.some(([name]) => errorOf(name) !== undefined)}
    >
      <Stack gap="md" maw={640}>
        {'selectors' in (schema.properties ?? {}) && (
          <Stack gap="xs">
            {[...others, null].map((_, other) => (
              <TextInput
                // biome-ignore lint/suspicious/noArrayIndexKey: selectors are identified only by their index
                key={other}
                label={t.alternative(number, other + 1)}
                description={other === 0 ? t.alternativeHint : undefined}
                value={textAt(step, other + 1)}
                onChange={({ currentTarget }) => change(withSelector(step, other + 1, currentTarget.value))}
                translate="no"
              />
            ))}
          </Stack>
        )}
        <SchemaForm
          schema={schema}
          without={hidden}
          value={step}
          change={(next) => change(next as RecordedStep)}
          errorOf={errorOf}
        />
      </Stack>
    </Collapsible>
  )
}
