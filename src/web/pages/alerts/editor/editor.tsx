import { Anchor, NativeSelect, SegmentedControl } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import type { Alert, Forms } from '#client/types.gen'
import { useMay } from '../../../api/who.ts'
import { messages } from '../../../messages.ts'
import { MayLine } from '../../../parts/may.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { pathsOf } from '../../../parts/schema.ts'
import { Channels } from './channels.tsx'
import { type Draft, schemaOf } from './draft.ts'
import classes from './editor.module.css'
import { DeleteButton, Foot } from './foot.tsx'
import { JsonEditor } from './json-editor.tsx'
import { Past } from './past-panel.tsx'
import { Recent } from './recent.tsx'
import { useSaving } from './saving.ts'
import { sharedPaths, toSend } from './sending.ts'
import { draftFrom, TEMPLATE_NAMES } from './templates.ts'
import { WhatToWatch } from './what-to-watch.tsx'
import { WhenToFire } from './when-to-fire.tsx'

interface EditorProps {
  forms: Forms
  /** The initial draft. */
  begun: Draft
  /** The alert being edited; null for a new one. */
  saved: Alert | null
}

/** The form for an alert, next to a preview of what it would have found. */
export function Editor({ forms, begun, saved }: EditorProps) {
  const [first] = useState(begun)
  const [draft, change] = useState(first)
  const [isJson, showJson] = useState(false)
  const [isBroken, setBroken] = useState(false)
  const may = useMay('member')
  const element = useRef<HTMLFormElement>(null)
  const form = forms.alertTypes.find(({ kind }) => kind === draft.alertType)
  const paths = useMemo(() => [...sharedPaths(toSend(draft)), ...pathsOf(schemaOf(form), draft)], [draft, form])
  const saving = useSaving({ draft, form, saved, paths, isBroken, begun: first, element })
  const part = { draft, change, form, forms, paths, errorOf: saving.errorOf }
  const t = messages.alert
  return (
    <>
      <PageHead
        title={saved ? saved.name : t.new}
        isData={saved !== null}
        above={
          <Anchor component={Link} to="/alerts" fz="sm">
            {t.all}
          </Anchor>
        }
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
      </PageHead>
      <MayLine needs="member" what={t.what} />
      <form ref={element} className={classes.form} noValidate onSubmit={(event) => event.preventDefault()}>
        <div className={classes.sides}>
          <fieldset disabled={!may} className={`plain ${classes.rule}`}>
            {isJson ? (
              <JsonEditor draft={draft} change={change} setBroken={setBroken} />
            ) : (
              <>
                <WhatToWatch {...part} />
                <WhenToFire {...part} />
                <Channels {...part} />
              </>
            )}
          </fieldset>
          <div className={classes.past}>
            <Past draft={draft} form={form} change={may ? change : null} />
          </div>
        </div>
        {saved && <Recent alertId={saved.id} />}
        {may && <Foot saving={saving} saved={saved} />}
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
      onChange={({ currentTarget }) => begin(draftFrom(currentTarget.value))}
      data={[{ value: '', label: t.nothing }, ...TEMPLATE_NAMES.map((value) => ({ value, label: t.templates[value] }))]}
    />
  )
}
