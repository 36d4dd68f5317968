import { Button, Group, Modal, NumberInput, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getOrderCaptureOptions, getOrderCaptureStatusOptions } from '#client/@tanstack/react-query.gen'
import { putOrderCapture } from '#client/sdk.gen'
import type { OrderCaptureRule, OrderCaptureRulesInput, OrderCaptureStatus } from '#client/types.gen'
import { pagePath } from '../../../contract/page-paths.ts'
import { invalidate, sharedQueries } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { ChannelRows } from '../../components/channel-rows.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Data } from '../../components/data-text.tsx'
import { DEFAULT_CHANNEL } from '../../components/edited-channels.ts'
import { Form, useSubmit } from '../../components/form.tsx'
import { formatPercent } from '../../components/format.ts'
import { LabelledSwitch } from '../../components/labelled-switch.tsx'
import { ManagedMark } from '../../components/managed-by.tsx'
import { Pct } from '../../components/numbers.tsx'
import { PathLink } from '../../components/path-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { useIsMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'

type Status = OrderCaptureStatus['rules'][number]
type RuleInput = OrderCaptureRulesInput['rules'][number]

/** Sends all rules of the organization, because they are replaced together. */
async function save(rules: RuleInput[]): Promise<void> {
  await putOrderCapture({ body: { rules } })
  await invalidate('getOrderCapture', 'getOrderCaptureStatus')
}

/** The rules that check whether the orders of a domain reach a vendor. */
export function OrderCaptureRules({ domainId }: { domainId: string }) {
  const t = messages.explore.orders.capture
  const query = useQuery(getOrderCaptureOptions())
  const { data: status } = useQuery(getOrderCaptureStatusOptions())
  const may = useHasRole('member')
  const [edited, edit] = useState<OrderCaptureRule | 'new' | null>(null)
  const [leaving, leave] = useState<OrderCaptureRule | null>(null)
  const all = query.data?.rules ?? []
  return (
    <Paper mt="lg">
      <Title order={2} mb="sm">
        {t.title}
      </Title>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Text c="dimmed" mb="sm" maw="72ch">
        {t.about}
      </Text>
      <QueryState query={query} empty={null}>
        {({ rules }) => (
          <RuleTable
            rules={rules.filter((rule) => rule.domainId === domainId)}
            states={status?.rules ?? []}
            edit={may ? edit : null}
            leave={leave}
          />
        )}
      </QueryState>
      {may && (
        <Button mt="sm" variant="default" disabled={domainId === '' || !query.data} onClick={() => edit('new')}>
          {t.create}
        </Button>
      )}
      <Modal
        opened={edited !== null}
        onClose={() => edit(null)}
        title={edited === 'new' || edited === null ? t.create : t.editNamed(edited.vendor)}
        closeButtonProps={{ 'aria-label': messages.shell.close }}
      >
        {edited && (
          <RuleForm rule={edited === 'new' ? null : edited} domainId={domainId} rules={all} close={() => edit(null)} />
        )}
      </Modal>
      <ConfirmDialog
        close={() => leave(null)}
        confirmation={
          leaving && {
            title: t.deleteNamed(leaving.vendor),
            sentence: t.deleteHint,
            button: messages.settings.delete,
            action: async () => {
              await save(all.filter(({ id }) => id !== leaving.id))
              notices.say(t.deleted(leaving.vendor))
            },
          }
        }
      />
    </Paper>
  )
}

interface RuleTableProps {
  rules: readonly OrderCaptureRule[]
  states: readonly Status[]
  /** Null without permission to edit. */
  edit: ((rule: OrderCaptureRule) => void) | null
  leave(rule: OrderCaptureRule): void
}

function RuleTable({ rules, states, edit, leave }: RuleTableProps) {
  const t = messages.explore.orders.capture
  if (rules.length === 0) return <Text>{t.none}</Text>
  const statusOf = ({ id }: OrderCaptureRule) => states.find((one) => one.id === id)
  return (
    <SimpleTable
      name={t.title}
      rows={rules}
      keyOf={({ id }) => id}
      columns={[
        {
          head: messages.explore.vendor,
          cell: ({ vendor, managedBy }) => (
            <>
              <Data>{vendor}</Data> <ManagedMark managedBy={managedBy} />
            </>
          ),
        },
        { head: t.state, cell: (rule) => <State status={statusOf(rule)} /> },
        { head: t.usual, isNumber: true, cell: (rule) => <Usual status={statusOf(rule)} /> },
        {
          head: t.current,
          isNumber: true,
          cell: (rule) => {
            const pct = statusOf(rule)?.capturePct ?? null
            return <Pct value={pct === null ? null : pct / 100} />
          },
        },
        {
          head: messages.settings.actions,
          isHeadHidden: true,
          cell: (rule) =>
            edit && (
              <Group gap="sm" justify="flex-end" wrap="nowrap">
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.editNamed(rule.vendor)}
                  onClick={() => edit(rule)}
                >
                  {t.edit}
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t.deleteNamed(rule.vendor)}
                  onClick={() => leave(rule)}
                >
                  {messages.settings.delete}
                </Button>
              </Group>
            ),
        },
      ]}
    />
  )
}

/** State of a rule, with a link to its issue. */
function State({ status }: { status: Status | undefined }) {
  const t = messages.explore.orders.capture
  if (!status) return null
  const [issueId] = status.issueIds
  const text = t.states[status.state]
  return issueId === undefined ? text : <PathLink path={pagePath.issue(issueId)}>{text}</PathLink>
}

function Usual({ status }: { status: Status | undefined }) {
  const usual = status?.usual ?? null
  if (usual === null) return <Pct value={null} />
  return messages.explore.orders.capture.range(formatPercent(usual.lowPct / 100), formatPercent(usual.highPct / 100))
}

interface RuleFormProps {
  /** Null for a new rule. */
  rule: OrderCaptureRule | null
  domainId: string
  /** All rules of the organization. */
  rules: readonly OrderCaptureRule[]
  close(): void
}

const numberOrNull = (value: number | string) => (value === '' ? null : Number(value))

function RuleForm({ rule, domainId, rules, close }: RuleFormProps) {
  const t = messages.explore.orders.capture
  const isHere = useIsMounted()
  const [given, change] = useState({
    vendor: rule?.vendor ?? '',
    settlingMinutes: rule?.settlingMinutes ?? 60,
    minCapturePct: rule?.minCapturePct ?? null,
    maxDuplicates: rule ? rule.maxDuplicates : 0,
    maxValueDeviationPct: rule?.maxValueDeviationPct ?? null,
    channels: rule?.channels ?? [DEFAULT_CHANNEL],
    enabled: rule?.enabled ?? true,
  })
  const forms = useQuery(sharedQueries.forms()).data
  const index = rule ? rules.findIndex(({ id }) => id === rule.id) : rules.length
  const nameOf = (field: string) => `rules[${index}].${field}`
  const channelFields = given.channels.flatMap((_, at) => [`channels[${at}].type`, `channels[${at}].target`])
  const sending = useSubmit([...Object.keys(given), ...channelFields].map(nameOf), async () => {
    const saved = rule ? { ...rule, ...given } : { domainId, ...given }
    await save([...rules.slice(0, index), saved, ...rules.slice(index + 1)])
    notices.say(t.saved(given.vendor))
    if (isHere()) close()
  })
  const number = (field: 'minCapturePct' | 'maxDuplicates' | 'maxValueDeviationPct') => ({
    label: t[field],
    description: t.hints[field],
    value: given[field] ?? '',
    onChange: (value: number | string) => change({ ...given, [field]: numberOrNull(value) }),
    error: sending.errorOf(nameOf(field)),
    min: 0,
  })
  return (
    <Form submission={sending} button={t.save}>
      <Stack gap="md">
        <TextInput
          label={messages.explore.vendor}
          value={given.vendor}
          onChange={({ currentTarget }) => change({ ...given, vendor: currentTarget.value })}
          error={sending.errorOf(nameOf('vendor'))}
          required
          data-autofocus
        />
        <NumberInput
          label={t.settlingMinutes}
          description={t.hints.settlingMinutes}
          value={given.settlingMinutes}
          onChange={(value) => change({ ...given, settlingMinutes: Number(value) })}
          error={sending.errorOf(nameOf('settlingMinutes'))}
          min={5}
          max={2880}
          allowDecimal={false}
        />
        <NumberInput {...number('minCapturePct')} max={100} />
        <NumberInput {...number('maxDuplicates')} allowDecimal={false} />
        <NumberInput {...number('maxValueDeviationPct')} />
        {forms && (
          <ChannelRows
            channels={given.channels}
            forms={forms}
            path="channels"
            errorOf={(field) => sending.errorOf(nameOf(field))}
            change={(channels) => change({ ...given, channels })}
          />
        )}
        <LabelledSwitch
          label={t.enabled}
          description={t.hints.enabled}
          checked={given.enabled}
          onChange={({ currentTarget }) => change({ ...given, enabled: currentTarget.checked })}
        />
      </Stack>
    </Form>
  )
}
