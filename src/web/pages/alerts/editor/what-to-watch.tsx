import { Autocomplete, NativeSelect, Stack, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { listDomainsOptions } from '#client/@tanstack/react-query.gen'
import { FRESH } from '../../../api/queries.ts'
import { Card } from '../../../parts/card.tsx'
import { asData } from '../../../parts/data.tsx'
import { Prose } from '../../../parts/schema-form.tsx'
import { words } from '../../../words.ts'
import {
  domainsOf,
  eventOf,
  ownPlace,
  suggestedName,
  vendorOf,
  withDomain,
  withEvent,
  withType,
  withVendor,
} from './draft.ts'
import classes from './editor.module.css'
import { useNames } from './names.ts'
import type { PartProps } from './part.ts'
import { sayOperator } from './saving.ts'

const MOST_DOMAINS = 200
/** Stands for several domains, which only the JSON names. */
const MANY = 'many'

/** Name, type and scope of an alert. */
export function WhatToWatch({ draft, change, form, forms, errorOf }: PartProps) {
  const said = words.alert
  const titles: Readonly<Record<string, string>> = words.api.alertTypes
  return (
    <Card title={said.whatToWatch}>
      <Stack gap="md">
        <TextInput
          label={said.name}
          description={said.nameHint}
          value={draft.name}
          placeholder={suggestedName(draft, form, sayOperator)}
          onChange={({ currentTarget }) => change({ ...draft, name: currentTarget.value })}
          error={errorOf('name')}
          maxLength={200}
        />
        <NativeSelect
          label={said.type}
          description={form && <Prose text={form.help} />}
          value={draft.alertType}
          onChange={({ currentTarget }) => change(withType(draft, forms.alertTypes, currentTarget.value))}
          data={forms.alertTypes.map(({ kind, title }) => ({ value: kind, label: titles[kind] ?? title }))}
          error={errorOf('alertType')}
        />
        <Scope {...{ draft, change, form, forms, errorOf }} />
      </Stack>
    </Card>
  )
}

function Scope({ draft, change, form, errorOf }: PartProps) {
  const { data } = useQuery({ ...listDomainsOptions({ query: { limit: MOST_DOMAINS } }), staleTime: FRESH.insight })
  const ids = domainsOf(draft)
  const [vendor, event] = [vendorOf(draft, form), eventOf(draft, form)]
  const { vendors, events } = useNames(ids.length === 1 ? (ids[0] ?? '') : '', vendor, event)
  const said = words.alert
  const errorAt = (part: 'vendor' | 'event') => {
    const own = ownPlace(form, part)
    return own === null ? undefined : errorOf(`${own}.${part}`)
  }
  return (
    <div className={classes.fields}>
      <NativeSelect
        label={said.domain}
        value={ids.length > 1 ? MANY : (ids[0] ?? '')}
        onChange={({ currentTarget }) => change(withDomain(draft, currentTarget.value))}
        error={errorOf('domainId')}
      >
        <option value="">{said.allDomains}</option>
        {ids.length > 1 && <option value={MANY}>{said.manyDomains(ids.length)}</option>}
        {data?.domains.map(({ id, name }) => (
          <option key={id} value={id} translate="no">
            {name}
          </option>
        ))}
      </NativeSelect>
      {ownPlace(form, 'vendor') === null && (draft.vendors?.length ?? 0) > 1 ? (
        <TagsInput
          renderOption={asData}
          label={said.vendor}
          value={[...(draft.vendors ?? [])]}
          onChange={(chosen) => change({ ...draft, vendors: chosen })}
          data={[...vendors]}
          error={errorOf('vendors')}
        />
      ) : (
        <Autocomplete
          renderOption={asData}
          label={said.vendor}
          value={vendor}
          onChange={(typed) => change(withVendor(draft, form, typed))}
          data={[...vendors]}
          placeholder={said.every}
          error={errorOf('vendors') ?? errorOf('vendors[0]') ?? errorAt('vendor')}
          maxLength={200}
        />
      )}
      <Autocomplete
        renderOption={asData}
        label={said.event}
        value={event}
        onChange={(typed) => change(withEvent(draft, form, typed))}
        data={[...events]}
        placeholder={said.every}
        error={errorAt('event')}
        maxLength={200}
      />
    </div>
  )
}
