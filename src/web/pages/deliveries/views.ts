export { DeliveriesPage } from './deliveries-page.tsx'
export { DeliveryPage } from './delivery-page.tsx'
