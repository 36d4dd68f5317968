import { Anchor, Group, JsonInput, NativeSelect, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { listIssuesOptions } from '#client/@tanstack/react-query.gen'
import type { Alert, Forms } from '#client/types.gen'
import { useHasRole } from '../../../api/whoami.ts'
import { Breadcrumb } from '../../../components/breadcrumb.tsx'
import { Card } from '../../../components/card.tsx'
import { Sentence } from '../../../components/data-text.tsx'
import { pathsOf } from '../../../components/form-schema.ts'
import { PageHeader } from '../../../components/page-header.tsx'
import { RoleNotice } from '../../../components/role-notice.tsx'
import { SeverityMark } from '../../../components/severity-mark.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { BacktestPanel } from './backtest-panel.tsx'
import { sharedPaths, toInput } from './convert-alert-draft.ts'
import { type Draft, schemaOf } from './draft.ts'
import classes from './editor.module.css'
import { DeleteButton, EditorFooter } from './footer.tsx'
import { Channels } from './notification-section.tsx'
import { ScopeSection } from './scope-section.tsx'
import { draftFromTemplate, TEMPLATE_NAMES } from './template-draft.ts'
import { TriggerSection } from './trigger-section.tsx'
import { useSaving } from './use-saving.ts'

const SHOWN = 5

interface EditorProps {
  forms: Forms
  /** The initial draft. */
  initial: Draft
  /** The alert being edited; null for a new one. */
  saved: Alert | null
}

/** The alert form, next to a preview of the alert's findings in past events. */
export function Editor({ forms, initial, saved }: EditorProps) {
  const [first] = useState(initial)
  const [draft, change] = useState(first)
  const [isJson, showJson] = useState(false)
  const [isBroken, setBroken] = useState(false)
  const may = useHasRole('member')
  const element = useRef<HTMLFormElement>(null)
  const form = forms.alertTypes.find(({ kind }) => kind === draft.alertType)
  const paths = useMemo(() => [...sharedPaths(toInput(draft)), ...pathsOf(schemaOf(form), draft)], [draft, form])
  const saving = useSaving({ draft, form, saved, paths, isBroken, initial: first, element })
  const part = { draft, change, form, forms, paths, errorOf: saving.errorOf }
  const t = messages.alert
  return (
    <>
      <PageHeader
        title={saved ? saved.name : t.new}
        isData={saved !== null}
        above={<Breadcrumb to="/alerts">{t.toList}</Breadcrumb>}
      >
        {may && (saved ? <DeleteButton alert={saved} leaves={saving} /> : <StartFrom begin={change} />)}
        <SegmentedControl
          size="xs"
          aria-label={t.json}
          value={isJson ? 'json' : 'fields'}
          onChange={(chosen) => {
            showJson(chosen === 'json')
            setBroken(false)
          }}
          data={[
            { value: 'fields', label: t.fields },
            { value: 'json', label: t.json },
          ]}
        />
      </PageHeader>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <form ref={element} className={classes.form} noValidate onSubmit={(event) => event.preventDefault()}>
        <div className={classes.sides}>
          <fieldset disabled={!may} className={`plain ${classes.rule}`}>
            {isJson ? (
              <JsonEditor draft={draft} change={change} setBroken={setBroken} />
            ) : (
              <>
                <ScopeSection {...part} />
                <TriggerSection {...part} />
                <Channels {...part} />
              </>
            )}
          </fieldset>
          <div className={classes.past}>
            <BacktestPanel draft={draft} form={form} change={may ? change : null} />
          </div>
        </div>
        {saved && <RecentIssues alertId={saved.id} />}
        {may && <EditorFooter saving={saving} saved={saved} />}
      </form>
    </>
  )
}

function StartFrom({ begin }: { begin(draft: Draft): void }) {
  const t = messages.alert
  return (
    <NativeSelect
      label={t.startFrom}
      size="xs"
      defaultValue=""
      onChange={({ currentTarget }) => begin(draftFromTemplate(currentTarget.value))}
      data={[
        { value: '', label: t.blankAlert },
        ...TEMPLATE_NAMES.map((value) => ({ value, label: t.templates[value] })),
      ]}
    />
  )
}

/** Unresolved issues of the alert; renders nothing when there are none. */
function RecentIssues({ alertId }: { alertId: string }) {
  const { data } = useQuery(
    listIssuesOptions({ query: { alertId: [alertId], limit: SHOWN, status: ['open', 'acknowledged'] } }),
  )
  if (!data || data.issues.length === 0) return null
  return (
    <div className={classes.recent}>
      <Card title={messages.alert.openIssues}>
        <Stack gap="sm">
          {data.issues.map(({ id, severity, title, lastSeenAt }) => (
            <Group key={id} justify="space-between" gap="sm">
              <Group gap="sm" wrap="nowrap" miw={0}>
                <SeverityMark severity={severity} />
                <Anchor component={Link} to={`/issues/${id}`} fz="sm">
                  <Sentence>{title}</Sentence>
                </Anchor>
              </Group>
              <TimeAgo at={lastSeenAt} isQuiet />
            </Group>
          ))}
        </Stack>
      </Card>
    </div>
  )
}

interface JsonEditorProps {
  draft: Draft
  change(draft: Draft): void
  /** Called with true when the text becomes invalid JSON; the draft then keeps its last valid value. */
  setBroken(isBroken: boolean): void
}

/** The alert as API JSON, to read, copy and edit. */
function JsonEditor({ draft, change, setBroken }: JsonEditorProps) {
  const [typed, type] = useState(() => JSON.stringify(toInput(draft), null, 2))
  const read = (text: string): Draft | null => {
    try {
      const value: unknown = JSON.parse(text)
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Draft) : null
    } catch {
      return null
    }
  }
  return (
    <Card title={messages.alert.json}>
      <Text c="dimmed" mb="md">
        {messages.alert.jsonHint}
      </Text>
      <JsonInput
        aria-label={messages.alert.json}
        value={typed}
        onChange={(text) => {
          type(text)
          const next = read(text)
          setBroken(next === null)
          if (next) change({ ...next, name: String(next.name ?? ''), period: String(next.period ?? '') })
        }}
        error={read(typed) === null ? messages.forms.notJson : undefined}
        autosize
        minRows={16}
        maxRows={40}
        translate="no"
      />
    </Card>
  )
}
