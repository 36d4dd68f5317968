import type { TObject } from '../core/schema.ts'
import type { CallApi } from './api-client.ts'
import type { Fields, SectionName, Shape } from './shape.ts'

/** An item on the server. */
export interface StoredItem {
  id: string
  /** Text from which a key is derived for an item that no file manages. */
  name: string
  /** The fields that a file contains, as in the API. */
  fields: Fields
  /** Names of the stored secrets, whose values are not shown. */
  secrets?: readonly string[]
}

/** A kind of item in a configuration file, and how it is read and written. */
export interface Section {
  name: SectionName
  /** Name of an item, such as `alert`. */
  noun: string
  /** True if the section is one item instead of several items by key. */
  isSingle?: true
  shape: Shape
  /** Schema of the fields, as in the API. */
  input: TObject
  /** Values of absent fields, as in the file. */
  defaults: Fields
  /** Fields that keep their value on the server when they are absent from the file. */
  keeps?: readonly string[]
  /** The object that contains the secrets, and the path of the route that compares them with the stored ones. */
  secrets?: { field: 'config' | 'secrets'; comparePath(id: string): string }
  /** True for a field of `secrets.field` whose value is exported as a placeholder although it can be read. */
  isSensitive?(item: Fields, field: string): boolean
  /** Returns the item in the form in which the server stores it. Throws `AppError` naming the field. */
  normalise?(fields: Fields): Fields
  /** Throws `AppError` naming the field, for what the schema can't express. `fields`: as in the API. */
  check?(fields: Fields): void
  list(call: CallApi): Promise<StoredItem[]>
  /** Returns the id of the new item. */
  create(call: CallApi, fields: Fields): Promise<string>
  update(call: CallApi, id: string, fields: Fields): Promise<void>
  remove(call: CallApi, id: string): Promise<void>
}
