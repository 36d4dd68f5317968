/** Components that many pages share: tables, filters, comparisons. */
export const components = {
  select: (name: string) => `Select ${name}`,
  selectAll: 'Select all loaded',
  any: 'Any',
  none: 'No options',
  search: 'Search',
  filters: 'Filters',
  removeFilter: (filter: string) => `Remove filter ${filter}`,
  chip: (label: string) => `${label}:`,
  clearAll: 'Clear all',
  clearFilters: 'Clear filters',
  previous: 'Previous',
  next: 'Next',
  position: (first: string, last: string, of: string | null) =>
    of === null ? `${first} to ${last} of many` : `${first} to ${last} of ${of}`,
  noneMatch: 'No results match these filters.',
  parameter: 'Parameter',
  differs: 'differs',
  blank: 'blank',
  notSent: 'not sent',
  showMore: (count: number, isAlike: boolean) =>
    `Show ${count} ${isAlike ? 'identical' : 'more'} ${count === 1 ? 'parameter' : 'parameters'}`,
  showLess: 'Show fewer parameters',
}
