import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.JSON;
import org.openapitools.client.api.PlantsApi;
import org.openapitools.client.model.Error;
import org.openapitools.client.model.NewPlant;
import org.openapitools.client.model.Plant;

/** Calls a running service with the Java client that OpenAPI Generator generates. */
public class Main {
    public static void main(String[] arguments) throws Exception {
        PlantsApi ours = plants(System.getenv("PLANTS_TOKEN"));
        NewPlant monstera = new NewPlant().id(Long.MAX_VALUE).name("Monstera deliciosa").tag("indoor");
        NewPlant other = new NewPlant().id(Long.MAX_VALUE).name("Ficus lyrata");

        Plant created = ours.createPlant(monstera);
        assert created.equals(new Plant().name("Monstera deliciosa").tag("indoor")) : created;

        assertRefused(ours, other, 409);
        assertRefused(plants("unknown"), other, 401);
    }

    private static PlantsApi plants(String token) {
        ApiClient client = new ApiClient();
        client.updateBaseUri(System.getenv("PLANTS_URL"));
        client.setRequestInterceptor(
                request -> request.header("Authorization", "Bearer " + token));
        return new PlantsApi(client);
    }

    private static void assertRefused(PlantsApi plants, NewPlant plant, int code) throws Exception {
        try {
            throw new AssertionError(plants.createPlant(plant) + " was created");
        } catch (ApiException refusal) {
            assert refusal.getCode() == 400 : refusal;
            Error error = JSON.getDefault().getMapper().readValue(refusal.getResponseBody(), Error.class);
            assert error.getError() == code : error;
            assert !error.getMessage().isEmpty() : error;
        }
    }
}
