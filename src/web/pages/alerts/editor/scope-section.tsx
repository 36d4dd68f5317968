import { Autocomplete, NativeSelect, Stack, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sharedQueries } from '../../../api/queries.ts'
import { Card } from '../../../components/card.tsx'
import { asData, Sentence } from '../../../components/data-text.tsx'
import { MultiChoice } from '../../../components/multi-choice.tsx'
import { messages } from '../../../messages.ts'
import {
  domainsOf,
  eventOf,
  ownField,
  suggestedName,
  vendorOf,
  withDomain,
  withDomains,
  withEvent,
  withType,
  withVendor,
} from './draft.ts'
import classes from './editor.module.css'
import type { SectionProps } from './section-props.ts'
import { useNames } from './use-name-suggestions.ts'
import { operatorLabel } from './use-saving.ts'

/** The option "several domains", which shows a second field. */
const MANY = 'many'

/** Name, type and scope of an alert. */
export function ScopeSection({ draft, change, form, forms, errorOf }: Omit<SectionProps, 'paths'>) {
  const t = messages.alert
  const titles: Readonly<Record<string, string>> = messages.displayNames.alertTypes
  return (
    <Card title={t.nameAndScope}>
      <Stack gap="md">
        <TextInput
          label={t.name}
          description={t.nameHint}
          value={draft.name}
          placeholder={suggestedName(draft, form, operatorLabel)}
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
        <Scope draft={draft} change={change} form={form} errorOf={errorOf} />
      </Stack>
    </Card>
  )
}

function Scope({ draft, change, form, errorOf }: Omit<SectionProps, 'forms' | 'paths'>) {
  const ids = domainsOf(draft)
  const [vendor, event] = [vendorOf(draft, form), eventOf(draft, form)]
  const { vendors, events } = useNames(ids.length === 1 ? (ids[0] ?? '') : '', vendor, event)
  const t = messages.alert
  const errorAt = (part: 'vendor' | 'event') => {
    const own = ownField(form, part)
    return own === null ? undefined : errorOf(`${own}.${part}`)
  }
  return (
    <div className={classes.fields}>
      <DomainField draft={draft} change={change} errorOf={errorOf} />
      {ownField(form, 'vendor') === null && (draft.vendors?.length ?? 0) > 1 ? (
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
          placeholder={t.any}
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
        placeholder={t.any}
        error={errorAt('event')}
        maxLength={200}
      />
    </div>
  )
}

/** Selects the monitored domains: all, one or several. */
function DomainField({ draft, change, errorOf }: Pick<SectionProps, 'draft' | 'change' | 'errorOf'>) {
  const { data } = useQuery(sharedQueries.domains())
  const ids = domainsOf(draft)
  const [wantsMany, wantMany] = useState(false)
  const isMany = wantsMany || ids.length > 1
  const known = data?.domains ?? []
  // Deleted domains, and domains that were not loaded, are shown by their ids.
  const others = ids.filter((id) => data && !known.some((domain) => domain.id === id)).map((id) => ({ id, name: id }))
  const domains = [...known, ...others]
  const t = messages.alert
  return (
    <>
      <NativeSelect
        label={t.domain}
        value={isMany ? MANY : (ids[0] ?? '')}
        onChange={({ currentTarget: { value } }) => {
          wantMany(value === MANY)
          if (value !== MANY) change(withDomain(draft, value))
        }}
        error={isMany ? undefined : (errorOf('domainId') ?? errorOf('domainIds'))}
      >
        <option value="">{t.allDomains}</option>
        {domains.map(({ id, name }) => (
          <option key={id} value={id} translate="no">
            {name}
          </option>
        ))}
        <option value={MANY}>{t.severalDomains}</option>
      </NativeSelect>
      {isMany && (
        <MultiChoice
          label={t.domains}
          isData
          options={domains.map(({ id, name }) => ({ value: id, label: name }))}
          chosen={ids}
          choose={(chosen) => change(withDomains(draft, [...chosen]))}
          error={errorOf('domainId') ?? errorOf('domainIds')}
        />
      )}
    </>
  )
}
