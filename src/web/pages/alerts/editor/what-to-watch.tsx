import { Autocomplete, NativeSelect, Stack, TagsInput, TextInput } from '@mantine/core'
import { messages } from '../../../messages.ts'
import { Card } from '../../../parts/card.tsx'
import { asData, Sentence } from '../../../parts/data.tsx'
import { DomainField } from './domain-field.tsx'
import { domainsOf, eventOf, ownPlace, suggestedName, vendorOf, withEvent, withType, withVendor } from './draft.ts'
import classes from './editor.module.css'
import { useNames } from './names.ts'
import type { PartProps } from './part.ts'
import { sayOperator } from './saving.ts'

/** Name, type and scope of an alert. */
export function WhatToWatch({ draft, change, form, forms, errorOf }: Omit<PartProps, 'paths'>) {
  const t = messages.alert
  const titles: Readonly<Record<string, string>> = messages.api.alertTypes
  return (
    <Card title={t.whatToWatch}>
      <Stack gap="md">
        <TextInput
          label={t.name}
          description={t.nameHint}
          value={draft.name}
          placeholder={suggestedName(draft, form, sayOperator)}
          onChange={({ currentTarget }) => change({ ...draft, name: currentTarget.value })}
          error={errorOf('name')}
          maxLength={200}
        />
        <NativeSelect
          label={t.type}
          description={form && <Sentence>{form.help}</Sentence>}
          value={draft.alertType}
          onChange={({ currentTarget }) => change(withType(draft, forms.alertTypes, currentTarget.value))}
          data={forms.alertTypes.map(({ kind, title }) => ({ value: kind, label: titles[kind] ?? title }))}
          error={errorOf('alertType')}
        />
        <Scope {...{ draft, change, form, errorOf }} />
      </Stack>
    </Card>
  )
}

function Scope({ draft, change, form, errorOf }: Omit<PartProps, 'forms' | 'paths'>) {
  const ids = domainsOf(draft)
  const [vendor, event] = [vendorOf(draft, form), eventOf(draft, form)]
  const { vendors, events } = useNames(ids.length === 1 ? (ids[0] ?? '') : '', vendor, event)
  const t = messages.alert
  const errorAt = (part: 'vendor' | 'event') => {
    const own = ownPlace(form, part)
    return own === null ? undefined : errorOf(`${own}.${part}`)
  }
  return (
    <div className={classes.fields}>
      <DomainField {...{ draft, change, errorOf }} />
      {ownPlace(form, 'vendor') === null && (draft.vendors?.length ?? 0) > 1 ? (
        <TagsInput
          renderOption={asData}
          label={t.vendor}
          value={[...(draft.vendors ?? [])]}
          onChange={(chosen) => change({ ...draft, vendors: chosen })}
          data={[...vendors]}
          error={errorOf('vendors')}
        />
      ) : (
        <Autocomplete
          renderOption={asData}
          label={t.vendor}
          value={vendor}
          onChange={(typed) => change(withVendor(draft, form, typed))}
          data={[...vendors]}
          placeholder={t.every}
          error={errorOf('vendors') ?? errorAt('vendor')}
          maxLength={200}
        />
      )}
      <Autocomplete
        renderOption={asData}
        label={t.event}
        value={event}
        onChange={(typed) => change(withEvent(draft, form, typed))}
        data={[...events]}
        placeholder={t.every}
        error={errorAt('event')}
        maxLength={200}
      />
    </div>
  )
}
