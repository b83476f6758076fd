openapi-generator-cli generate --generator-name java --library native --input-spec ../../plant-store.json --output plant-store --additional-properties openApiNullable=false,hideGenerationTimestamp=true

# The generator's jar contains the Jackson that the client needs, so nothing has to be downloaded.
export CLASSPATH="$(echo ../../venv/lib/python3*/site-packages/openapi_generator_cli/openapi-generator.jar):classes"
javac -nowarn -sourcepath plant-store/src/main/java:. -d classes Main.java
java -enableassertions Main
