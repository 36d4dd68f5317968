/** Parts that many pages share: tables, filters, what is compared, help. */
export const parts = {
  select: (name: string) => `Select ${name}`,
  selectAll: 'Select all loaded',
  any: 'Any',
  none: 'None',
  search: 'Search',
  filters: 'Filters',
  without: (filter: string) => `Without ${filter}`,
  chip: (label: string) => `${label}:`,
  clearAll: 'Clear all',
  clearFilters: 'Clear filters',
  parameter: 'Parameter',
  differs: 'differs',
  blank: 'blank',
  absent: 'not sent',
  alike: (count: number) => (count === 1 ? '1 equal parameter' : `${count} equal parameters`),
  help: (term: string) => `What is ${term}?`,
}
